"""The docker runtime keeps what every runtime promises, on a daemon in memory."""

from pathlib import Path
from typing import ClassVar

from hyperkube_runtime.docker.in_memory_engine import InMemoryEngine
from hyperkube_runtime.docker.runtime import DockerRuntime
from hyperkube_testing.node_contracts.runtime import RuntimeContract

from hyperkube.machinery.clock import SystemClock

PAUSE = "registry.k8s.io/pause:3.10.1"


class TestDockerRuntime(RuntimeContract):
    image = "busybox:1"

    _engines: ClassVar[dict[Path, InMemoryEngine]] = {}

    def build(self, state):
        engine = self._engines.setdefault(state, InMemoryEngine(PAUSE, self.image))
        return DockerRuntime(engine, state, SystemClock(), sandbox_image=PAUSE, log_options={})
