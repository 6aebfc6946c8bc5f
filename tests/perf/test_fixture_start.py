"""How long a test waits for its cluster: the first one in a process, and those after it."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tomllib

from hyperkube_testing.cluster.cluster import ControlPlane

from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin import loader

COLD_SECONDS = 2.0
WARM_SECONDS = 0.5
SCRIPT = "from hyperkube_testing.cluster.cluster import ControlPlane\nwith ControlPlane(hollow_nodes=1):\n    pass\n"


def test_the_first_cluster_of_a_process_is_there_within_two_seconds():
    clock = SystemClock()
    start = clock.monotonic()

    subprocess.run([sys.executable, "-c", SCRIPT], check=True)

    seconds = clock.monotonic() - start
    print(f"\ninterpreter, imports, start and stop: {seconds:.2f} s")
    assert seconds < COLD_SECONDS


def test_a_later_cluster_is_there_within_half_a_second():
    clock = SystemClock()
    with ControlPlane(hollow_nodes=1):
        pass
    taken = []

    for _ in range(5):
        start = clock.monotonic()
        with ControlPlane(hollow_nodes=1):
            taken.append(clock.monotonic() - start)

    print(f"\nstart until ready: median {statistics.median(taken):.3f} s, slowest {max(taken):.3f} s")
    assert statistics.median(taken) < WARM_SECONDS


def test_a_later_cluster_parses_no_data_of_plugins_and_looks_at_the_import_path_once_per_thread(monkeypatch):
    with ControlPlane(hollow_nodes=1):
        pass
    parsed, looked = [], []
    parse, changed_at = tomllib.loads, loader._changed_at
    monkeypatch.setattr(tomllib, "loads", lambda text: parsed.append(text) or parse(text))
    monkeypatch.setattr(loader, "_changed_at", lambda folder: looked.append(folder) or changed_at(folder))

    with ControlPlane(hollow_nodes=1):
        pass

    assert not parsed
    assert len(looked) == 2 * len(sys.path)  # the scheduler loads its profiles in a thread of its own
