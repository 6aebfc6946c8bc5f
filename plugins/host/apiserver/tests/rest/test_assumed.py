"""Updates that begin with what the cache has of a store in another process, which may be old."""

import json

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_testing.storage.other_process import OtherProcess

from hyperkube.kinds.resources import CONFIG_MAPS, LEASES
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Compare, Delete, Put
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

MAP = "/api/v1/namespaces/default/configmaps/a"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l"
TIME = "2026-01-02T03:04:05.000006Z"
MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    file = tmp_path_factory.mktemp("assumed") / "tokens.csv"
    file.write_text("root,root,2,system:masters\n")
    return str(file)


@pytest.fixture
def store():
    memory = MemoryStore()
    yield OtherProcess(memory)
    memory.close()


@pytest.fixture
def server(store, tokens):
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["RBAC"], "token-auth-file": tokens}
    server = ApiServer(options=options, store=store)
    server.start()
    server.informers.wait_synced(60)
    eventually(server.ready, why="the first answers would lack what its start has not made yet")
    client = server.client(LOOPBACK)
    client.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}}, "default")
    client.create(LEASES, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me", "renewTime": TIME}}, "default")
    for resource, name in ((CONFIG_MAPS, "a"), (LEASES, "l")):
        client.get(resource, name, "default")  # from now on the cache has it
    store.arrives.clear()
    yield server
    store.arrives.set()
    server.close()


def ask(server, method, path, body, content_type="application/json"):
    headers = {"authorization": "Bearer root", "content-type": content_type}
    answer = server.handler.handle(
        HttpRequest(method=method, path=path, headers=headers, body=json.dumps(body).encode())
    )
    return answer.status, json.loads(answer.body)


def elsewhere(store, key, change):
    """Change what is stored as another server does; return the revision."""
    item = store.get(key)
    obj = json.loads(item.value)
    change(obj)
    return store.txn([Compare(key, item.mod_revision)], [Put(key, json.dumps(obj).encode())]).revision


def changed_elsewhere(store):
    return elsewhere(store, "/registry/configmaps/default/a", lambda obj: obj["data"].update(y="2"))


def test_a_patch_is_of_what_is_stored(server, store):
    changed_elsewhere(store)

    status, obj = ask(server, "PATCH", MAP, {"data": {"z": "3"}}, MERGE)

    assert (status, obj["data"]) == (200, {"x": "1", "y": "2", "z": "3"})


def test_a_patch_that_changes_nothing_answers_with_what_is_stored(server, store):
    revision = changed_elsewhere(store)

    status, obj = ask(server, "PATCH", MAP, {"data": {"x": "1"}}, MERGE)

    assert (status, obj["data"], obj["metadata"]["resourceVersion"]) == (200, {"x": "1", "y": "2"}, str(revision))


def test_an_update_of_the_newest_version_is_no_conflict(server, store):
    revision = changed_elsewhere(store)
    new = {"metadata": {"name": "a", "resourceVersion": str(revision)}, "data": {"n": "4"}}

    status, obj = ask(server, "PUT", MAP, new)

    assert (status, obj["data"]) == (200, {"n": "4"})


def test_an_update_of_an_older_version_is_one(server, store):
    old = server.client(LOOPBACK).get(CONFIG_MAPS, "a", "default", resource_version="0")
    changed_elsewhere(store)

    status, _ = ask(server, "PUT", MAP, {**old, "data": {"n": "4"}})

    assert status == 409


def test_what_was_deleted_elsewhere_is_not_found(server, store):
    store.txn([], [Delete("/registry/configmaps/default/a")])

    assert ask(server, "PATCH", MAP, {"data": {"z": "3"}}, MERGE)[0] == 404


def test_what_may_be_created_by_an_update_is_when_it_was_deleted_elsewhere(server, store):
    store.txn([], [Delete("/registry/leases/default/l")])

    status, obj = ask(server, "PUT", LEASE, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "you"}})

    assert (status, obj["spec"]["holderIdentity"]) == (201, "you")


def test_a_dry_run_is_of_what_is_stored(server, store):
    changed_elsewhere(store)
    headers = {"authorization": "Bearer root", "content-type": MERGE}
    request = HttpRequest(
        method="PATCH", path=MAP, query_string="dryRun=All", headers=headers, body=b'{"data":{"z":"3"}}'
    )

    answer = server.handler.handle(request)

    assert json.loads(answer.body)["data"] == {"x": "1", "y": "2", "z": "3"}


def test_an_update_without_news_asks_the_store_for_nothing_but_the_write(server, store):
    read, get = [], store.get
    store.get = lambda key, **how: (read.append(key), get(key, **how))[1]

    status, _ = ask(server, "PATCH", MAP, {"data": {"z": "3"}}, MERGE)

    assert (status, [key for key in read if "configmaps" in key]) == (200, [])


def test_a_renewal_of_a_version_that_was_replaced_elsewhere_is_a_conflict(server, store):
    lease = server.client(LOOPBACK).get(LEASES, "l", "default", resource_version="0")
    elsewhere(store, "/registry/leases/default/l", lambda obj: obj["spec"].update(holderIdentity="you"))
    renewed = {**lease, "spec": {**lease["spec"], "renewTime": "2026-01-02T03:04:15.000007Z"}}

    assert ask(server, "PUT", LEASE, renewed)[0] == 409
