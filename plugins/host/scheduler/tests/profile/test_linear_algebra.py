"""Threads that numpy would start and never use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hyperkube_host.scheduler.profile.linear_algebra import VARIABLE, without_threads

THREADS = """
import os
from hyperkube_host.scheduler.profile.linear_algebra import without_threads
with without_threads():
    import numpy
print(len(os.listdir('/proc/self/task')))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
def test_numpy_comes_without_threads():
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}

    told = subprocess.run([sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, check=True)

    assert int(told.stdout) == 1


def test_programs_that_are_run_later_do_not_inherit_it(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)

    with without_threads():
        within = os.environ.get(VARIABLE)

    assert within == "1"
    assert VARIABLE not in os.environ


def test_what_the_environment_says_counts_more(monkeypatch):
    monkeypatch.setenv(VARIABLE, "4")

    with without_threads():
        within = os.environ[VARIABLE]

    assert within == os.environ[VARIABLE] == "4"
