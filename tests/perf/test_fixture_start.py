"""What a test pays for its cluster, in CPU: the first one in a process, and those after it; see `servers_under_load.PACE`."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from hyperkube_testing.cluster.cluster import ControlPlane
from servers_under_load import cpu_of, own_cpu, pace

from hyperkube.plugin import loader

COLD_PACES, WARM_PACES = 8.0, 1.0
"""On a quiet machine they are 5 and 0.5: 1.2 s, and a tenth of a second."""
FIXTURE_PACES = 7.0
"""On a quiet machine it is 5, which is 1.2 s; to be kept under 1.5 s."""
RUN = ("env", "PYTHONDONTWRITEBYTECODE=1", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
SCRIPT = "from hyperkube_testing.cluster.cluster import ControlPlane\nwith ControlPlane(hollow_nodes=1):\n    pass\n"


def test_the_first_cluster_of_a_process_costs_so_many_times_the_pace():
    paces, taken = [pace()], []

    for _ in range(3):
        taken.append(cpu_of([sys.executable, "-c", SCRIPT]))
        paces.append(pace())

    print(f"\ninterpreter, imports, start and stop: {min(taken):.2f} s; pace {min(paces):.2f} s")
    assert min(taken) < COLD_PACES * min(paces)


def cpu_of_test(folder: Path, fixture: str) -> float:
    """Return the CPU seconds of a run of pytest with one test, which asks for the fixture; empty for none."""
    file = folder / f"test_{fixture or 'nothing'}.py"
    file.write_text(f"def test_it({fixture}):\n    pass\n")
    return cpu_of([*RUN, "-c", "/dev/null", f"--rootdir={folder}", str(file)])


def test_the_fixture_costs_a_run_of_pytest_so_many_times_the_pace(tmp_path):
    paces, taken = [pace()], []

    for _ in range(2):
        plain = cpu_of_test(tmp_path, "")
        taken.append(cpu_of_test(tmp_path, "hyperkube_cluster") - plain)
        paces.append(pace())

    print(f"\nfixture, beside pytest itself: {min(taken):.2f} s; pace {min(paces):.2f} s")
    assert min(taken) < FIXTURE_PACES * min(paces)


def test_a_later_cluster_costs_less_than_the_pace():
    with ControlPlane(hollow_nodes=1):
        pass
    paces, taken = [pace()], []

    for _ in range(5):
        start = own_cpu()
        with ControlPlane(hollow_nodes=1):
            taken.append(own_cpu() - start)
        paces.append(pace())

    print(f"\nstart until ready: {min(taken):.3f} s; pace {min(paces):.2f} s")
    assert min(taken) < WARM_PACES * min(paces)


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
