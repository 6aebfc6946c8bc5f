"""A runtime, and containers of it, for the tests of this folder."""

import logging
import secrets
from pathlib import Path
from typing import NamedTuple

import pytest
from hyperkube_runtime.process.runtime import ProcessRuntime

from hyperkube.hookspecs.runtime import ContainerStatus
from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually


class Outcome(NamedTuple):
    """How a container ended: its status, and the text of its log."""

    status: ContainerStatus
    output: str


@pytest.fixture
def runtime(tmp_path):
    """A runtime whose containers are gone when the test ends."""
    runtime = ProcessRuntime(tmp_path / "process", clock=SystemClock(), logger=logging.getLogger("test"))
    yield runtime
    for sandbox in runtime.sandboxes():
        runtime.remove_sandbox(sandbox.id)
    runtime.close()


@pytest.fixture
def start(runtime, tmp_path):
    """Start a container that runs a shell script; return the ids of its sandbox and of itself."""

    def start_container(script: str, security=None, resources=None, **fields) -> tuple[str, str]:
        metadata = {"namespace": "default", "name": "p", "uid": "u"}
        pod = {"metadata": metadata, "hostname": "p", "log_directory": str(tmp_path / secrets.token_hex(4))}
        sandbox = runtime.run_sandbox(pod, "")
        config = {
            "metadata": {"name": "c"},
            "image": {"image": "host"},
            "command": ["sh", "-c", script],
            "log_path": "0.log",
            "linux": {"security_context": security or {}, "resources": resources or {}},
            **fields,
        }
        container = runtime.create_container(sandbox, config, pod)
        runtime.start_container(container)
        return sandbox, container

    return start_container


@pytest.fixture
def run(runtime, start):
    """Run a container to its end."""

    def run_container(script: str, **fields) -> Outcome:
        _, container = start(script, **fields)
        eventually(lambda: runtime.container(container).state == "exited")
        status = runtime.container(container)
        lines = Path(status.log_path).read_text().splitlines()
        return Outcome(status, "\n".join(line.split(" ", 3)[3] for line in lines))

    return run_container
