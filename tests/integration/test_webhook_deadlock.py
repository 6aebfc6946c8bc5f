"""A webhook whose backend runs in the cluster, fails closed, and is asked about everything: then all is restarted."""

from __future__ import annotations

import socket

import orjson
import pytest
from hyperkube_testing.cluster.cluster import ControlPlane
from hyperkube_testing.peers.ports import free_port
from hyperkube_testing.peers.webhook_server import WebhookServer

from hyperkube.kinds.resources import CONFIG_MAPS, DEPLOYMENTS, ENDPOINTS, EVENTS, NAMESPACES, PODS, SERVICES
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.storage.memory import MemoryStore

CONFIGURATIONS = GroupVersionResource("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations")
BREAK = "break-webhook-deadlocks"
SECONDS = 45
NAME = "hook.guard.svc"
LABELS = {"app": "hook"}


def service(port):
    return {"metadata": {"name": "hook"}, "spec": {"selector": LABELS, "ports": [{"port": 443, "targetPort": port}]}}


def deployment():
    spec = {"containers": [{"name": "c", "image": "webhook"}]}
    template = {"metadata": {"labels": LABELS}, "spec": spec}
    return {
        "metadata": {"name": "hook"},
        "spec": {"replicas": 1, "selector": {"matchLabels": LABELS}, "template": template},
    }


def configuration(server):
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": ["*/*"]}
    webhook = {
        "name": "all.example.com",
        "clientConfig": {"service": {"namespace": "guard", "name": "hook"}, "caBundle": server.ca_bundle},
        "rules": [rule],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 5,
    }
    return {"metadata": {"name": "all"}, "webhooks": [webhook]}


class House:
    """A cluster in which the pod of a webhook runs; the pod's process is a server of this test."""

    def __init__(self, **flags):
        self.clock = SystemClock()
        self.store = MemoryStore(self.clock)
        self.flags = flags
        self.port = free_port()
        self.authority = None
        self.container = None

    def cluster(self):
        return ControlPlane(store=self.store, hollow_nodes=1, apiserver=self.flags)

    def serve(self):
        server = WebhookServer(lambda _: {"allowed": True}, dns=(NAME,), port=self.port, authority=self.authority)
        self.authority = server.authority
        return server

    def build(self):
        """Set everything up, with the webhook last; return the warnings that its configuration was answered with."""
        with self.serve() as server, self.cluster() as cluster:
            cluster.client.create(NAMESPACES, {"metadata": {"name": "guard"}})
            cluster.client.create(SERVICES, service(self.port), "guard")
            cluster.client.create(DEPLOYMENTS, deployment(), "guard")
            cluster.wait(lambda: addresses(cluster), "an endpoint", SECONDS)
            answer = cluster.client.request(
                "POST",
                CONFIGURATIONS.path(""),
                headers={"Content-Type": "application/json"},
                body=orjson.dumps(configuration(server)),
            )
            assert answer.status == 201, answer.body
            cluster.wait(lambda: is_asked(cluster, server), "the webhook to be asked", SECONDS)
            self.container = container_id(the_pod(cluster))
            return answer.headers.get("Warning", "")

    def close(self):
        self.store.close()
        self.clock.close()


def addresses(cluster):
    subsets = cluster.client.get(ENDPOINTS, "hook", "guard").get("subsets") or [{}]
    return subsets[0].get("addresses")


def is_asked(cluster, server):
    cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "probe"}}, "default", dry_run=True)
    return server.reviews


def the_pod(cluster):
    (pod,) = cluster.client.list(PODS, "guard").items
    return pod


def container_id(pod):
    return pod["status"].get("containerStatuses", [{}])[0].get("containerID")


def told(cluster):
    found = cluster.client.list(EVENTS, "default").items
    return [event["message"] for event in found if event["reason"] == "WebhookDeadlock"]


@pytest.fixture(autouse=True)
def simulated_network(monkeypatch):
    """Lead the addresses of simulated pods to this machine: what listens on the pod's port is the pod's process."""
    connect = socket.create_connection

    def lead(address, *rest, **more):
        host, port = address
        return connect((host if host.startswith("127.") else "127.0.0.1", port), *rest, **more)

    monkeypatch.setattr("hyperkube_lib.webhooks.caller.socket.create_connection", lead)


@pytest.fixture
def house(request):
    house = House(**request.param)
    yield house
    house.close()


@pytest.mark.parametrize("house", [{}], indirect=True, ids=["without the flag"])
def test_the_deadlock_is_told_and_stays(house):
    warning = house.build()

    with house.cluster() as cluster:
        message = cluster.wait(lambda: told(cluster), "the event", SECONDS)[0]
        after = container_id(the_pod(cluster))

    assert 'webhook "all.example.com" (service guard/hook) fails closed'.replace('"', '\\"') in warning
    assert 'deadlock: webhook "all.example.com" (service guard/hook) keeps its own backend from starting' in message
    assert "--break-webhook-deadlocks" in message
    assert after == house.container


@pytest.mark.parametrize("house", [{BREAK: True}], indirect=True, ids=["with the flag"])
def test_the_deadlock_is_broken_and_nothing_else_is_let_through(house):
    house.build()

    with house.cluster() as cluster:
        with pytest.raises(ApiError, match=r'failed calling webhook "all.example.com"'):
            cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "foreign"}}, "default")
        cluster.wait(lambda: container_id(the_pod(cluster)) != house.container, "the restarted pod", SECONDS)
        with house.serve() as server:
            cluster.wait(lambda: addresses(cluster), "the endpoint", SECONDS)
            cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "foreign"}}, "default")
            assert any(review["request"]["name"] == "foreign" for review in server.reviews)
            assert told(cluster) != []
