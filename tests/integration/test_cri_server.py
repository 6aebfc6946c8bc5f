"""Runtimes behind CRI: the runtime remote, at the socket of another one, keeps what every runtime promises."""

import logging
from typing import ClassVar

import pytest
from hyperkube_lib.cri import CriClient
from hyperkube_lib.cri_server import CriServer
from hyperkube_runtime.docker.in_memory_engine import InMemoryEngine
from hyperkube_runtime.docker.runtime import DockerRuntime
from hyperkube_runtime.process.runtime import ProcessRuntime
from hyperkube_runtime.remote.runtime import connect
from hyperkube_testing.node_contracts.runtime import RuntimeContract

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.waiting import eventually

PAUSE, BUSYBOX = "registry.k8s.io/pause:3.10.1", "busybox:1"


class BehindCri(RuntimeContract):
    """The contract over a socket; what is behind it is built anew with each server."""

    @pytest.fixture(autouse=True)
    def _servers(self):
        self.servers = []
        yield
        for server, runtime in self.servers:
            server.close()
            runtime.close()

    def behind(self, state):
        raise NotImplementedError

    def build(self, state):
        while self.servers:  # as the end of a process would
            server, runtime = self.servers.pop()
            server.close()
            runtime.close()
        state.mkdir(parents=True, exist_ok=True)
        endpoint = f"unix://{state}/cri.sock"
        runtime = self.behind(state)
        server = CriServer(runtime, endpoint, SystemClock())
        server.start()
        self.servers.append((server, runtime))
        return eventually(lambda: self.connected(endpoint), why="the server of CRI answers")

    def connected(self, endpoint):
        """Return the runtime behind a socket; None if gRPC gave the connection up, as it does on a busy machine."""
        client = CriClient(endpoint)
        try:
            return connect(client, endpoint)
        except UsageError:
            client.close()
            return None


class TestDocker(BehindCri):
    image = BUSYBOX
    engines: ClassVar = {}

    def behind(self, state):
        engine = self.engines.setdefault(state, InMemoryEngine(PAUSE, BUSYBOX))
        return DockerRuntime(engine, state / "docker", SystemClock(), sandbox_image=PAUSE, log_options={})


class TestProcess(BehindCri):
    def behind(self, state):
        return ProcessRuntime(state / "process", clock=SystemClock(), logger=logging.getLogger("test"))
