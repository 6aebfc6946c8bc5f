"""What is known of a template is forgotten as soon as anything that decides about its pods changes."""

import json
from itertools import count

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.machinery.users import LOOPBACK
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

LEARNED = 4
_numbers = count(1)


@pytest.fixture(scope="module")
def server():
    server = ApiServer(options={"storage-backend": "memory", "authorization-mode": ["AlwaysAllow"]})
    server.start()
    eventually(server.ready, why="the first pods would meet informers that are not filled yet")
    yield server
    server.close()


def send(server, method, path, body=None, media="application/json"):
    content = b"" if body is None else json.dumps(body).encode()
    answer = server.handler.handle(
        HttpRequest(method=method, path=path, headers={"content-type": media}, body=content, user=LOOPBACK)
    )
    return answer, json.loads(answer.body)


@pytest.fixture
def namespace(server):
    """Return the path of a namespace in which a template is known, whose pods mount their account's token."""
    name = f"n{next(_numbers)}"
    send(server, "POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    base = f"/api/v1/namespaces/{name}"
    send(server, "POST", f"{base}/serviceaccounts", {"metadata": {"name": "default"}})
    eventually(lambda: create(server, base)[0].status == 201, why="the account is there")
    specs = [create(server, base)[1]["spec"] for _ in range(LEARNED)]
    assert specs == [specs[0]] * LEARNED
    assert specs[0]["volumes"][0]["projected"]
    return base


def create(server, base, **meta):
    pod = {"metadata": {"name": f"p{next(_numbers)}", **meta}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return send(server, "POST", f"{base}/pods", pod)


def test_a_limit_range_that_comes_is_met_by_the_next_pod_and_gone_when_it_goes(server, namespace):
    limit = {"type": "Container", "defaultRequest": {"cpu": "50m"}}
    send(server, "POST", f"{namespace}/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": [limit]}})

    def resources():
        return create(server, namespace)[1]["spec"]["containers"][0]["resources"]

    eventually(lambda: resources() == {"requests": {"cpu": "50m"}}, why="the range is applied")
    assert [resources() for _ in range(LEARNED)] == [{"requests": {"cpu": "50m"}}] * LEARNED
    assert "limit-ranger" in str(create(server, namespace)[1]["metadata"]["annotations"])

    send(server, "DELETE", f"{namespace}/limitranges/l")

    eventually(lambda: resources() == {}, why="the range is gone")


def test_an_account_that_changes_is_seen(server, namespace):
    pulls = {"imagePullSecrets": [{"name": "s"}], "automountServiceAccountToken": False}
    send(server, "PATCH", f"{namespace}/serviceaccounts/default", pulls, "application/merge-patch+json")

    eventually(lambda: create(server, namespace)[1]["spec"].get("imagePullSecrets"), why="the account has secrets")
    specs = [create(server, namespace)[1]["spec"] for _ in range(LEARNED)]

    assert [spec["imagePullSecrets"] for spec in specs] == [[{"name": "s"}]] * LEARNED
    assert not any("volumes" in spec for spec in specs)


def test_a_default_class_that_comes_is_seen(server, namespace):
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    send(server, "POST", path, {"metadata": {"name": "all"}, "value": 7, "globalDefault": True})

    eventually(lambda: create(server, namespace)[1]["spec"]["priority"] == 7, why="the class is the default")
    assert create(server, namespace)[1]["spec"]["priorityClassName"] == "all"

    send(server, "DELETE", f"{path}/all")

    eventually(lambda: create(server, namespace)[1]["spec"]["priority"] == 0, why="there is no default any more")


def test_a_stricter_namespace_refuses_the_next_pod(server, namespace):
    labels = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    send(server, "PATCH", namespace, labels, "application/merge-patch+json")

    eventually(lambda: create(server, namespace)[0].status == 403, why="the policy holds")
    assert [create(server, namespace)[0].status for _ in range(LEARNED)] == [403] * LEARNED


def test_a_quota_counts_each_pod_of_a_template(server, namespace):
    send(server, "POST", f"{namespace}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}}})
    status = {"status": {"hard": {"pods": "2"}, "used": {"pods": "0"}}}
    send(server, "PATCH", f"{namespace}/resourcequotas/q/status", status, "application/merge-patch+json")

    eventually(lambda: create(server, namespace)[0].status == 403, why="no pod may be created any more")

    assert send(server, "GET", f"{namespace}/resourcequotas/q")[1]["status"]["used"] == {"pods": "2"}


def test_a_namespace_that_ends_takes_no_more_pods(server, namespace):
    send(server, "DELETE", namespace)

    eventually(lambda: create(server, namespace)[0].status in {403, 404}, why="it ends")


def test_labels_and_owners_are_each_pods_own(server, namespace):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}
    made = [
        create(server, namespace, labels={"n": str(number)}, ownerReferences=[{**owner, "uid": f"u{number}"}])[1]
        for number in range(LEARNED)
    ]

    assert [pod["metadata"]["labels"] for pod in made] == [{"n": str(number)} for number in range(LEARNED)]
    assert [pod["metadata"]["ownerReferences"][0]["uid"] for pod in made] == [f"u{n}" for n in range(LEARNED)]
