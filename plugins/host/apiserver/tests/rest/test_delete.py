"""What a deletion makes of an object on its way, and how it is answered."""

import json

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.storage.store import Delete
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

PODS, NAMESPACES = "/api/v1/namespaces/default/pods", "/api/v1/namespaces"
POD = {"automountServiceAccountToken": False, "nodeName": "n", "containers": [{"name": "app", "image": "i"}]}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    tokens = tmp_path_factory.mktemp("delete") / "tokens.csv"
    tokens.write_text("sesame,admin,1,system:masters\n")
    options = {"storage-backend": "memory", "authorization-mode": ["RBAC"], "token-auth-file": str(tokens)}
    server = ApiServer(options=options)
    server.start()
    eventually(server.ready, why="the first writes would meet informers that are not filled yet")
    ask(server, "POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    ask(server, "GET", PODS)  # from now on the cache has them
    yield server
    server.close()


def ask(server, method, path, body=None):
    headers = {"authorization": "Bearer sesame", "content-type": "application/json", "accept": "application/json"}
    content = json.dumps(body).encode() if body is not None else b""
    answer = server.handler.handle(HttpRequest(method=method, path=path, headers=headers, body=content))
    assert answer.status in {200, 201}, answer.body
    return json.loads(answer.body)


def test_a_graceful_deletion_is_answered_with_the_mark_as_it_is_stored(server):
    made = ask(server, "POST", PODS, {"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": POD})

    answer = ask(server, "DELETE", f"{PODS}/a", {"gracePeriodSeconds": 5})

    assert answer["metadata"]["deletionGracePeriodSeconds"] == 5
    assert {name: answer[name] for name in ("spec", "status")} == {name: made[name] for name in ("spec", "status")}
    assert ask(server, "GET", f"{PODS}/a") == answer


def test_the_last_deletion_is_answered_with_the_object_as_it_went(server):
    ask(server, "POST", PODS, {"metadata": {"name": "b"}, "spec": POD})
    marked = ask(server, "DELETE", f"{PODS}/b", {"gracePeriodSeconds": 5})

    gone = ask(server, "DELETE", f"{PODS}/b", {"gracePeriodSeconds": 0})

    version, before = (int(pod["metadata"].pop("resourceVersion")) for pod in (gone, marked))
    assert version == before + 2  # one for the grace period of none, one for the deletion
    assert gone["metadata"].pop("deletionGracePeriodSeconds") == 0
    assert marked["metadata"].pop("deletionGracePeriodSeconds") == 5
    del gone["metadata"]["deletionTimestamp"], marked["metadata"]["deletionTimestamp"]
    assert gone == marked


def test_an_object_that_another_removes_when_it_sees_the_mark_was_deleted(server, monkeypatch):
    """So a kubelet may, of a pod that is given no time."""
    ask(server, "POST", PODS, {"metadata": {"name": "seen"}, "spec": POD})
    store, left = server._model.store, []
    transaction = store.txn

    def txn(compare, success):
        result = transaction(compare, success)
        if not left and [type(each).__name__ for each in success] == ["Put"]:
            left.append(transaction([], [Delete(success[0].key)]))
        return result

    monkeypatch.setattr(store, "txn", txn)
    gone = ask(server, "DELETE", f"{PODS}/seen", {"gracePeriodSeconds": 0})

    assert left
    assert gone["metadata"]["name"] == "seen"


def test_what_a_strategy_does_to_a_marked_object_is_stored(server):
    ask(server, "POST", NAMESPACES, {"metadata": {"name": "gone"}})

    answer = ask(server, "DELETE", f"{NAMESPACES}/gone")

    assert answer["status"] == {"phase": "Terminating"}
    assert ask(server, "GET", f"{NAMESPACES}/gone")["status"] == {"phase": "Terminating"}
