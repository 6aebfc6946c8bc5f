"""Plain reads where the store is another process: answered from memory when that has what was written before."""

import threading

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.transformed_store import Transformers, transformed
from hyperkube_testing.storage.other_process import OtherProcess

from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import QueuesWrites
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

BASE = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    tokens = tmp_path_factory.mktemp("postponed") / "tokens.csv"
    tokens.write_text("sesame,alice,1\nroot,root,2,system:masters\n")
    options = {
        "admission-control": ["AlwaysAdmit"], "authorization-mode": ["RBAC"], "token-auth-file": str(tokens)
    }  # fmt: skip
    memory = MemoryStore()
    store = transformed(OtherProcess(memory), Transformers([]), may_wait=False)
    server = ApiServer(options=options, store=store)
    server.start()
    server.informers.wait_synced(60)
    eventually(server.ready, why="the first answers would lack what its start has not made yet")
    server.client(LOOPBACK).create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}}, "default")
    yield server
    server.close()
    memory.close()


def ask(path, token="root", query="", **headers):
    given = {"authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return HttpRequest(method="GET", path=path, query_string=query, headers=given)


def comparable(answer):
    return answer.status, answer.body, [pair for pair in answer.headers if pair[0] != "Audit-Id"]


def waited(server, request):
    """Return the answer to a read that waits as it says; None for one that does not."""
    reads = server.handler.postponed_reads
    wait = reads.waits_for(request)
    if wait is None:
        return None
    told, failures = threading.Event(), []

    def tell(failure):
        failures.append(failure)
        told.set()

    wait(tell)
    assert told.wait(60)
    assert failures == [None]
    return reads.answer(request)


@pytest.mark.parametrize("path", [f"{BASE}/a", BASE, f"{BASE}/none"])
@pytest.mark.parametrize("accept", ["application/json", "application/vnd.kubernetes.protobuf"])
def test_it_is_the_same_answer(server, path, accept):
    request = ask(path, accept=accept)
    whole = server.handler.handle(request)

    first, second = waited(server, request), waited(server, request)

    assert comparable(first) == comparable(second) == comparable(whole)


def test_the_change_before_is_seen(server):
    request = ask(f"{BASE}/a")
    server.handler.handle(request)
    client = server.client(LOOPBACK)

    for number in range(20):
        client.patch(CONFIG_MAPS, "a", {"data": {"x": f"n{number}"}}, "default")
        assert b'"x":"n%d"' % number in waited(server, request).body


@pytest.mark.parametrize(
    "request_",
    [ask(f"{BASE}/a", query="pretty=1"), ask("/healthz"), ask(f"{BASE}/a", impersonate_user="bob"), ask("/api/v1/x")],
    ids=["query", "no resource", "another user", "no such resource"],
)
def test_what_takes_more_than_look_ups_does_not_wait(server, request_):
    server.handler.handle(request_)

    assert waited(server, request_) is None


def test_what_may_not_be_read_is_left_to_the_long_way(server):
    request = ask(f"{BASE}/a", token="sesame")
    assert server.handler.handle(request).status == 403

    assert waited(server, request) is None


def test_nothing_is_answered_at_once(server):
    server.handler.handle(ask(f"{BASE}/a"))

    assert server.handler.hot(ask(f"{BASE}/a")) is None


def test_writes_take_turns(server):
    server.handler.handle(ask(f"{BASE}/a"))
    request = ask(BASE)
    request.method = "POST"

    assert isinstance(server._model.store, QueuesWrites)
    assert server.handler.takes_turns(request)
