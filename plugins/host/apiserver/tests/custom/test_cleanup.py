"""Definitions that go: their objects go first, in their own time, and hold nobody else up."""

import pytest
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.errors import ApiError, Forbidden, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.apiextensions", reason="needs the group of definitions")

IN_PROGRESS = ("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")


def resource(plural):
    return GroupVersionResource("example.com", "v1", plural)


def definition(plural, kind):
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}},
            ],
        },
    }


def toy(name, *finalizers):
    return {
        "apiVersion": "example.com/v1",
        "kind": "Toy",
        "metadata": {"name": name, "namespace": "default", "finalizers": list(finalizers)},
    }


@pytest.fixture
def store():
    return MemoryStore()


def serve(store):
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
    server = ApiServer(options=options, store=store)
    server.start()
    return server


@pytest.fixture
def server(store):
    server = serve(store)
    yield server
    server.close()


def served(client, plural):
    try:
        client.list(resource(plural))
    except ApiError:
        return False
    return True


def terminating(client):
    try:
        crd = client.get(CUSTOM_RESOURCE_DEFINITIONS, "toys.example.com")
    except NotFound:
        return None
    found = [one for one in crd["status"]["conditions"] if one["type"] == "Terminating"]
    return (found[0]["status"], found[0]["reason"], found[0]["message"]) if found else ()


def with_toy(client, *finalizers):
    """Create the definition with an object, then delete the definition."""
    client.create(CUSTOM_RESOURCE_DEFINITIONS, definition("toys", "Toy"))
    eventually(lambda: served(client, "toys"))
    client.create(resource("toys"), toy("a", *finalizers))
    client.delete(CUSTOM_RESOURCE_DEFINITIONS, "toys.example.com")


def let_go(client):
    held = client.get(resource("toys"), "a", "default")
    held["metadata"]["finalizers"] = []
    client.update(resource("toys"), held)


def test_a_definition_goes_with_its_objects(server):
    client = server.client(LOOPBACK)
    with_toy(client)
    eventually(lambda: terminating(client) is None and not served(client, "toys"))


def test_an_object_that_stays_holds_its_definition_but_no_other(server):
    client = server.client(LOOPBACK)
    with_toy(client, "example.com/hold")
    eventually(lambda: terminating(client) == IN_PROGRESS)
    client.create(CUSTOM_RESOURCE_DEFINITIONS, definition("games", "Game"))
    eventually(lambda: served(client, "games"))
    let_go(client)
    eventually(lambda: terminating(client) is None)


def test_nobody_creates_objects_of_a_definition_that_goes(server):
    client = server.client(LOOPBACK)
    with_toy(client, "example.com/hold")

    def refusal():
        try:
            client.create(resource("toys"), toy("b"), dry_run=True)
        except Forbidden as error:
            return error.message
        return ""

    why = "create not allowed while custom resource definition is terminating"
    eventually(lambda: refusal() == f'toys.example.com "b" is forbidden: {why}')
    let_go(client)


def test_a_server_that_starts_goes_on_where_the_last_one_stopped(store):
    first = serve(store)
    with_toy(first.client(LOOPBACK), "example.com/hold")
    eventually(lambda: terminating(first.client(LOOPBACK)) == IN_PROGRESS)
    first.close()
    second = serve(store)
    client = second.client(LOOPBACK)
    eventually(lambda: served(client, "toys"))
    let_go(client)
    eventually(lambda: terminating(client) is None)
    second.close()
