"""Events are not cached: what lists of them look at, and that clients see nothing of it."""

from __future__ import annotations

import pytest
from hyperkube_host.apiserver.pipeline.dispatch import locate
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import parse
from hyperkube_host.apiserver.rest.selection import select
from hyperkube_host.apiserver.server import ApiServer

from hyperkube.kinds.resources import EVENTS
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import resource_version_of
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

OPTIONS = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}


@pytest.fixture
def server():
    server = ApiServer(options=OPTIONS, store=MemoryStore())
    server.start()
    yield server
    server.close()


def create(server, name, pod, reason="Started"):
    event = {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": pod, "resourceVersion": "5"},
        "reason": reason,
        "source": {"component": "kubelet"},
    }
    return server.client(LOOPBACK).create(EVENTS, event, "default")


def names(server, **options):
    return [item["metadata"]["name"] for item in server.client(LOOPBACK).list(EVENTS, "default", **options).items]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("involvedObject.name=web", ["a", "b"]),
        ("involvedObject.name=web,reason=Killing", ["b"]),
        ("involvedObject.name!=web", ["c"]),
        ("source=kubelet,involvedObject.name=db", ["c"]),
        ("reason=default", []),
    ],
)
def test_field_selectors_find_what_they_name(server, selector, found):
    create(server, "a", "web")
    create(server, "b", "web", "Killing")
    create(server, "c", "db")

    assert names(server, field_selector=selector) == found


def test_pages_are_of_one_revision_and_objects_carry_their_own(server):
    made = [create(server, name, "web") for name in ("a", "b", "c")]
    client = server.client(LOOPBACK)

    first = client.list(EVENTS, "default", limit=2)
    create(server, "b2", "web")
    second = client.list(EVENTS, "default", limit=2, continue_token=first.continue_token)

    items = [*first.items, *second.items]
    assert [resource_version_of(item) for item in items] == [resource_version_of(each) for each in made]
    assert first.resource_version == second.resource_version


def test_what_is_deleted_is_gone_at_once(server):
    create(server, "a", "web")
    client = server.client(LOOPBACK)
    before = client.get(EVENTS, "a", "default")["involvedObject"]["name"]

    client.delete(EVENTS, "a", "default")

    assert (before, names(server)) == ("web", [])
    with pytest.raises(NotFound):
        client.get(EVENTS, "a", "default")


def test_none_of_them_is_in_memory(server):
    create(server, "a", "web")
    served = server.registry.find(EVENTS)

    names(server)

    assert (served.storage.cache.loaded, len(served.storage.cache)) == (False, 0)


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ("involvedObject.name=web,involvedObject.namespace=default", b"default"),
        ("involvedObject.fieldPath=spec.containers{main}", b"spec.containers{main}"),
        ("involvedObject.name!=web", b""),
        ("metadata.name=a-name", b""),
        ("reason=f\u00fcnf", b""),
        ('reason=a"b', b""),
    ],
)
def test_the_longest_text_that_no_encoding_changes_is_looked_for(server, selector, text):
    path, query = "/api/v1/namespaces/default/events", {"fieldSelector": [selector]}
    info = parse("GET", path, query)
    request = ApiRequest(method="GET", path=path, info=info, query=query, user=LOOPBACK)

    assert select(request, locate(server.registry, info)).holds == text
