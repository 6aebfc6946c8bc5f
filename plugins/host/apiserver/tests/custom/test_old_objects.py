"""Objects that are older than their schema: they are shown as it wants them now, and stored so when they change."""

from itertools import count

import orjson
import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS
from hyperkube.machinery.errors import Invalid
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.apiextensions", reason="needs the group of definitions")

TOYS = GroupVersionResource("example.com", "v1", "toys")
PATH = "/apis/example.com/v1/namespaces/default/toys/a"
TEXT = {"type": "string"}


def definition(**properties):
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "toys.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "toys", "kind": "Toy"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    }


def toy(**spec):
    return {"apiVersion": "example.com/v1", "kind": "Toy", "metadata": {"name": "a"}, "spec": spec}


class Cluster:
    """One server over a store, and what a test does with it."""

    def __init__(self, store):
        options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
        self.server = ApiServer(options=options, store=store)
        self.server.start()
        self.client = self.server.client(LOOPBACK)

    def define(self, **properties):
        changed = self.client.get(CUSTOM_RESOURCE_DEFINITIONS, "toys.example.com")
        changed["spec"] = definition(**properties)["spec"]
        self.client.update(CUSTOM_RESOURCE_DEFINITIONS, changed)

    def spec(self):
        request = HttpRequest(method="GET", path=PATH, query_string="", headers={}, user=LOOPBACK)
        return orjson.loads(self.server.handler.handle(request).body)["spec"]

    def served(self):
        return self.server.registry.find(TOYS) is not None


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def cluster(store):
    made = Cluster(store)
    made.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition(color=TEXT, size=TEXT))
    eventually(made.served)
    made.client.create(TOYS, toy(color="red", size="big"), "default")
    yield made
    made.server.close()


def test_an_old_object_has_the_new_defaults_and_no_member_that_went(cluster):
    cluster.define(color=TEXT, shape={**TEXT, "default": "round"})

    eventually(lambda: cluster.spec() == {"color": "red", "shape": "round"})
    assert cluster.client.get(TOYS, "a", "default")["spec"] == {"color": "red", "shape": "round"}
    assert cluster.client.list(TOYS).items[0]["spec"] == {"color": "red", "shape": "round"}


def test_it_is_stored_so_when_it_changes(cluster, store):
    cluster.define(color=TEXT, shape={**TEXT, "default": "round"})
    eventually(lambda: cluster.spec() == {"color": "red", "shape": "round"})

    changed = cluster.client.get(TOYS, "a", "default")
    changed["spec"]["color"] = "blue"
    cluster.client.update(TOYS, changed)

    stored = orjson.loads(store.get("/registry/example.com/toys/default/a").value)
    assert stored["spec"] == {"color": "blue", "shape": "round"}


def test_a_server_that_starts_later_shows_the_same(cluster, store):
    cluster.define(color=TEXT, shape={**TEXT, "default": "round"})
    eventually(lambda: cluster.spec() == {"color": "red", "shape": "round"})

    later = Cluster(store)
    try:
        eventually(later.served)
        assert later.spec() == {"color": "red", "shape": "round"}
    finally:
        later.server.close()


def test_what_the_schema_forbids_now_may_stay_but_not_come(cluster):
    cluster.define(color={**TEXT, "maxLength": 2}, size=TEXT)

    def change(**members):
        changed = cluster.client.get(TOYS, "a", "default")
        changed["spec"] |= members
        return cluster.client.update(TOYS, changed)["spec"]

    tried = count()

    def is_refused():
        try:
            change(color=f"green {next(tried)}")
        except Invalid:
            return True
        return False

    eventually(is_refused)
    before = cluster.spec()["color"]
    assert change(size="small") == {"color": before, "size": "small"}
