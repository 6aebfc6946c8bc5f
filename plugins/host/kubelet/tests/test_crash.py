"""A kubelet that ends at its first bug."""

import logging
import subprocess
import sys

import pytest
from hyperkube_host.kubelet.crash import EXIT_CODE, Crashing

PROGRAM = """
import threading
from hyperkube_host.kubelet.crash import Crashing
thread = threading.Thread(target=Crashing(lambda key: 1 / key), args=(0,))
thread.start()
threading.Event().wait(60)
"""


def test_a_bug_is_logged_and_ends_the_process(caplog):
    ended = []

    def work(_key):
        raise KeyError("a bug")

    with caplog.at_level(logging.ERROR), pytest.raises(KeyError):
        Crashing(work, lambda: ended.append(True))("a pod")

    assert ended == [True]
    assert "crash on 'a pod'" in caplog.text
    assert "a bug" in caplog.text


def test_work_without_a_bug_goes_on():
    done = []

    Crashing(done.append, lambda: pytest.fail("it ended"))("a pod")

    assert done == ["a pod"]


def test_the_process_is_gone_whatever_its_threads_do():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=50)

    assert done.returncode == EXIT_CODE
    assert "ZeroDivisionError" in done.stderr
