"""What containers use, and what their shims cost."""

import logging
from pathlib import Path

import pytest
from hyperkube_runtime.process.runtime import ProcessRuntime

from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually


@pytest.fixture
def runtime(tmp_path):
    runtime = ProcessRuntime(tmp_path / "process", clock=SystemClock(), logger=logging.getLogger("test"))
    yield runtime
    for sandbox in runtime.sandboxes():
        runtime.remove_sandbox(sandbox.id)
    runtime.close()


@pytest.fixture
def sleeper(runtime, tmp_path):
    """Return the id of a container that sleeps."""
    metadata = {"namespace": "default", "name": "p", "uid": "u"}
    pod = {"metadata": metadata, "hostname": "p", "log_directory": str(tmp_path / "logs")}
    config = {
        "metadata": {"name": "c"},
        "image": {"image": "host"},
        "command": ["sh", "-c", "exec sleep 1000"],
        "log_path": "c/0.log",
    }
    container = runtime.create_container(runtime.run_sandbox(pod, ""), config, pod)
    runtime.start_container(container)
    return container


def test_usage_is_measured(runtime, sleeper):
    (usage,) = eventually(lambda: [each for each in runtime.usage() if each.memory_bytes > 100_000])

    assert usage.id == sleeper


def test_a_shim_is_small(runtime, sleeper):
    text = Path(f"/proc/{runtime._containers[sleeper].shim_pid}/smaps_rollup").read_text()

    (own,) = [int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_Dirty:")]

    assert own < 4000  # kB; the rest are pages of files, which all shims share


def test_without_containers_no_process_is_looked_at(runtime, monkeypatch):
    monkeypatch.setattr("os.listdir", lambda _folder: pytest.fail("the processes are listed"))

    assert list(runtime.usage()) == []
