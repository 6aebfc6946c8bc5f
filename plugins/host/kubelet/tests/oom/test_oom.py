"""Processes that were killed for want of memory."""

import os
import threading

import pytest
from hyperkube_host.kubelet.oom.oom_parser import OomInstance, OomParser
from hyperkube_host.kubelet.oom.oom_watcher import OomWatcher

BEGIN = "6,1,1,-;python3 invoked oom-killer: gfp_mask=0x100cca, order=0, oom_score_adj=0"
KILLED = "3,2,2,-;Out of memory: Killed process 1234 (evil program) total-vm:1kB, anon-rss:1kB"
CONTAINER = (
    "6,2,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,"
    "oom_memcg=/kubepods/pod1,task_memcg=/kubepods/pod1/c,task=evil,pid=1234,uid=0"
)
MACHINE = (
    "6,2,2,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,"
    "global_oom,task_memcg=/user.slice,task=evil,pid=1234,uid=0"
)


@pytest.mark.parametrize(
    ("lines", "instance"),
    [
        ([BEGIN, MACHINE, KILLED], OomInstance(1234, "evil program", "/", "/user.slice")),
        ([BEGIN, CONTAINER, KILLED], OomInstance(1234, "evil program", "/kubepods/pod1", "/kubepods/pod1/c")),
        (
            [BEGIN, "Task in /a/b killed as a result of limit of /a", KILLED],
            OomInstance(1234, "evil program", "/a", "/a/b"),
        ),
        ([BEGIN, KILLED], OomInstance(1234, "evil program")),
        ([KILLED], None),
        (["6,1,1,-;something else"], None),
    ],
)
def test_the_lines_of_a_kill_are_one_instance(lines, instance):
    parser = OomParser()

    assert [found for found in map(parser.feed, lines) if found] == ([instance] if instance else [])


def test_a_kill_for_the_machines_memory_is_an_event_of_the_node(tmp_path):
    fifo, told, seen = tmp_path / "kmsg", [], threading.Event()
    fifo.touch()
    events = OomWatcher(lambda *what: (told.append(what), seen.set()), fifo)
    events.start()

    with fifo.open("a") as log:
        for line in (BEGIN, CONTAINER, KILLED, BEGIN, MACHINE, KILLED):
            log.write(line + "\n")
            log.flush()
    assert seen.wait(10)
    events.close()
    events.close()

    assert told == [("Warning", "SystemOOM", "System OOM encountered, victim process: evil program, pid: 1234")]


def test_a_log_that_may_not_be_read_is_told_of(tmp_path, caplog):
    caplog.set_level("INFO")
    watcher = OomWatcher(lambda *what: None, tmp_path / "none")
    watcher.start()
    watcher.close()

    assert "kills for want of memory are not watched" in caplog.text


@pytest.mark.skipif(not os.access("/dev/kmsg", os.R_OK), reason="/dev/kmsg may not be read")
def test_the_kernels_own_log_can_be_watched():
    watcher = OomWatcher(lambda *what: None)
    watcher.start()

    watcher.close()
