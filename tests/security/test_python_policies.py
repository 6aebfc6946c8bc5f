"""A policy in Python that misbehaves is cut: it holds up no request, leaves nothing behind, and crashes no server."""

import time
from pathlib import Path

import pytest
from hyperkube_admission.python_policy.process import Job, NoVerdict, Process, Turn

from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually

BUDGET = 0.3
REVIEW = {
    "operation": "CREATE", "group": "", "version": "v1", "resource": "configmaps", "subresource": "", "kind": "ConfigMap",
    "namespace": "default", "name": "c", "user": {"name": "u", "uid": "", "groups": [], "extra": {}}, "old_object": {},
    "object": {"kind": "ConfigMap", "metadata": {"name": "c"}}, "options": {}, "dry_run": False,
}  # fmt: skip
HEAD = """
import json, os, struct, subprocess, sys, time
from hyperkube_admission.python_policy import validates

PIPE = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdecimal() else -1

def say(data):
    os.write(PIPE, data)

@validates("configmaps")
def misbehaves(review):
"""
BODIES = {
    "drips": "    import signal; signal.setitimer(signal.ITIMER_REAL, 0)\n    for byte in struct.pack('!I', 1 << 20) + b' ' * 1000: say(bytes([byte])); time.sleep(0.05)",
    "half a message": "    say(struct.pack('!I', 100) + b'{'); time.sleep(60)",
    "no JSON": "    say(struct.pack('!I', 3) + b'}{}'); time.sleep(60)",
    "no table": "    say(struct.pack('!I', 2) + b'[]'); time.sleep(60)",
    "too large": "    say(struct.pack('!I', (1 << 32) - 1)); time.sleep(60)",
    "ends": "    os._exit(0)",
    "sleeps deaf": "    import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64)); time.sleep(60)",
    "spins": "    while True: pass",
    "looks up without end": "    [say(struct.pack('!I', len(b)) + b) for b in [b'{\"look\":[\"x\"]}'] * 100000]",
}


@pytest.fixture
def process(tmp_path):
    made = []

    def make(body):
        path = tmp_path / "policies.py"
        path.write_text(HEAD + body + "\n")
        made.append(Process(Job([{"source": f"{path}:misbehaves"}], 0), SystemClock(), 1))
        return made[-1]

    yield make
    for process in made:
        process.end()


def ask(process):
    deadline = time.monotonic() + BUDGET
    return list(process.ask([Turn(0, BUDGET, closed=True)], REVIEW, deadline, lambda _: {"found": None}))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_it_is_cut_in_time_and_gives_no_verdict(process, body):
    process = process(body)
    began = time.monotonic()

    with pytest.raises(NoVerdict):
        ask(process)

    assert time.monotonic() - began < 4 * BUDGET


def test_what_it_started_goes_with_it(process, tmp_path):
    told = tmp_path / "pid"
    process = process(
        f"    child = subprocess.Popen(['sleep', '60']); open({str(told)!r}, 'w').write(str(child.pid)); time.sleep(60)"
    )

    with pytest.raises(NoVerdict):
        ask(process)
    process.end()

    assert eventually(lambda: not is_running(int(told.read_text())))


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_it_sees_nothing_of_the_servers_environment(process, tmp_path, monkeypatch):
    monkeypatch.setenv("CLOUD_PASSWORD", "hush")
    told = tmp_path / "seen"
    process = process(f"    open({str(told)!r}, 'w').write(repr(dict(os.environ)))")

    assert ask(process) == [{"policy": 0}]

    assert "hush" not in told.read_text()
