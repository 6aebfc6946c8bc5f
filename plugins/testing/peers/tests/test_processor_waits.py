"""What threads have waited for a processor."""

import os
import subprocess
import sys
import threading

import pytest
from hyperkube_testing.peers.processor_waits import processor_waits

COMPUTE = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
print("begun", flush=True)
while time.thread_time() < float(sys.argv[2]): pass
"""


def begun(processor, seconds):
    line = [sys.executable, "-c", COMPUTE, processor, str(seconds)]
    program = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "begun\n"
    return program


def test_threads_of_a_process_are_told_by_number():
    mine = threading.get_native_id()

    assert mine in processor_waits()
    assert processor_waits(os.getpid(), [mine]).keys() == {mine}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system binds no program to a processor")
def test_who_shares_a_processor_waits_for_it():
    processor = str(min(os.sched_getaffinity(0)))
    waits = {}
    with begun(processor, 30) as other, begun(processor, 0.2) as waiting:
        while waiting.poll() is None:
            waits.update(processor_waits(waiting.pid))
        other.kill()

    assert waits[waiting.pid] > 0.05
    assert processor_waits(waiting.pid) == {}
