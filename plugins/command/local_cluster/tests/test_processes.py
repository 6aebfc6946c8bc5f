"""A server in a process of its own: noticed when it ends, ended when it is told to."""

import os
import signal
import subprocess
import sys
import threading

from hyperkube_command.local_cluster.processes import PROGRAM, ServerProcess

from hyperkube.command.lifecycle import PARENT

WAIT_SECONDS = 10


def test_a_server_that_ends_on_its_own_is_reported_with_its_log(tmp_path):
    reports, told = [], threading.Event()
    log = tmp_path / "log"
    server = ServerProcess(
        "scheduler", [*PROGRAM, "scheduler", "--nosuch"], lambda what: (reports.append(what), told.set()), str(log)
    )

    server.start()

    assert told.wait(WAIT_SECONDS)
    server.close()
    assert reports == [f"the scheduler ended with exit code 1; see {log}"]
    assert "unknown flag: --nosuch" in log.read_text()


def test_a_server_ends_when_whoever_started_it_is_killed():
    child = "import os, time; from hyperkube.command.lifecycle import end_with_parent; end_with_parent(); print(os.getpid(), flush=True); time.sleep(60)"
    parent = (
        "import os, subprocess, sys, time;"
        f"subprocess.Popen([sys.executable, '-c', {child!r}], env={{**os.environ, {PARENT!r}: str(os.getpid())}});"
        "time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())

        os.kill(process.pid, signal.SIGKILL)

        assert process.stdout.read() == "", f"the pipe closes when {pid} has ended too"
