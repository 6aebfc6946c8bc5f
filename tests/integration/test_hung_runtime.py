"""A kubelet whose container runtime hangs: every call has its time limit, the node says why, and all goes on after."""

from __future__ import annotations

import threading

import pytest

pytest.importorskip("grpc")

from hyperkube_host.kubelet.command import COMMAND
from hyperkube_host.kubelet.kubelet import Kubelet
from hyperkube_host.kubelet.nodestatus import runtime_state
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.pleg import generic
from hyperkube_lib.cri_server import CriServer
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_runtime.hollow import HollowRuntime

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.conditions import condition
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin.flags import FlagValues
from hyperkube.testing.waiting import eventually

LIMIT_SECONDS, DOWN_SECONDS = 0.3, 1.5


class HangingRuntime:
    """A runtime behind a gate: while it is shut, no call returns."""

    def __init__(self):
        self._runtime = HollowRuntime(SystemClock())
        self.gate = threading.Event()
        self.gate.set()
        self.hung = set()

    def __getattr__(self, name):
        found = getattr(self._runtime, name)
        if not callable(found):
            return found

        def behind_the_gate(*arguments, **options):
            if not self.gate.is_set():
                self.hung.add(name)
                self.gate.wait(60)
            return found(*arguments, **options)

        return behind_the_gate


@pytest.fixture
def runtime(tmp_path):
    runtime = HangingRuntime()
    server = CriServer(runtime, f"unix://{tmp_path}/cri.sock", SystemClock())
    server.start()
    yield runtime
    runtime.gate.set()
    server.close()


@pytest.fixture
def client():
    return FakeClient(SystemClock())


@pytest.fixture
def kubelet(runtime, client, tmp_path, monkeypatch):
    monkeypatch.setattr(runtime_state, "DOWN_SECONDS", DOWN_SECONDS)
    monkeypatch.setattr(generic, "RELIST_THRESHOLD_SECONDS", DOWN_SECONDS)
    values = {
        "hostname-override": "n1",
        "root-dir": str(tmp_path / "root"),
        "node-ip": "127.0.0.1",
        "container-runtime": "remote",
        "container-runtime-endpoint": f"unix://{tmp_path}/cri.sock",
        "runtime-request-timeout": f"{LIMIT_SECONDS}s",
        "node-status-update-frequency": "200ms",
        "cgroups-per-qos": False,
        "enforce-node-allocatable": ["none"],
        "make-iptables-util-chains": False,
        "eviction-hard": "",
        "anonymous-auth": True,
        "authorization-mode": "AlwaysAllow",
        "port": 0,
    }
    kubelet = Kubelet(client=client, options=KubeletOptions.of(FlagValues.of(COMMAND.all_flags(), values)))
    kubelet.start()
    eventually(kubelet.ready)
    yield kubelet
    kubelet.close()


def run(client, name):
    spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}], "automountServiceAccountToken": False}
    client.create(PODS, {"metadata": {"name": name}, "spec": spec}, "default")


def status(client, name):
    return client.get(PODS, name, "default").get("status") or {}


def ready(client):
    return condition(client.get(NODES, "n1")["status"], "Ready")


def test_a_hung_runtime_makes_the_node_not_ready_until_it_is_back(runtime, client, kubelet):
    run(client, "before")
    eventually(lambda: status(client, "before").get("phase") == "Running")
    before = status(client, "before")["containerStatuses"][0]

    runtime.gate.clear()
    run(client, "meanwhile")
    eventually(lambda: ready(client)["status"] == "False")
    told = eventually(lambda: (text := ready(client)["message"]) and "PLEG" in text and "is down" in text and text)
    answer = kubelet.handler.handle(HttpRequest(method="GET", path="/pods"))
    runtime.gate.set()

    eventually(lambda: ready(client)["status"] == "True")
    eventually(lambda: status(client, "meanwhile").get("phase") == "Running")
    after = status(client, "before")["containerStatuses"][0]
    assert "container runtime is down" in told
    assert "PLEG is not healthy: pleg was last seen active " in told
    assert answer.status == 200
    assert runtime.hung >= {"sandboxes", "status"}
    assert (after["containerID"], after["restartCount"]) == (before["containerID"], 0)
