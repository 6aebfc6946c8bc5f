"""A hot read is the same answer as the pipeline's, or none."""

import json

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.kinds.resources import CONFIG_MAPS, EVENTS
from hyperkube.machinery.recent import forget_all
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

BASE = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def server(tmp_path):
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("sesame,alice,1\nroot,root,2,system:masters\n")
    options = {
        "admission-control": ["AlwaysAdmit"], "authorization-mode": ["RBAC"], "token-auth-file": str(tokens)
    }  # fmt: skip
    server = ApiServer(options=options, store=MemoryStore())
    server.start()
    server.informers.wait_synced(5)
    eventually(server.ready, why="the first answers would lack what its start has not made yet")
    server.client(LOOPBACK).create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}}, "default")
    yield server
    server.close()


def ask(path, token="root", query="", **headers):
    given = {"authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return HttpRequest(method="GET", path=path, query_string=query, headers=given)


def comparable(answer):
    return answer.status, answer.body, [pair for pair in answer.headers if pair[0] != "Audit-Id"]


@pytest.mark.parametrize("path", [f"{BASE}/a", BASE, f"{BASE}/none"])
@pytest.mark.parametrize("agent", ["", "curl/8", "kubectl/v1.32"])
def test_it_is_the_same_answer(server, path, agent):
    request = ask(path, user_agent=agent)
    whole = server.handler.handle(request)

    first, second = server.handler.hot(request), server.handler.hot(request)

    assert comparable(first) == comparable(second) == comparable(whole)


def test_the_change_before_is_seen(server):
    request = ask(f"{BASE}/a")
    server.handler.handle(request)
    server.handler.hot(request)

    server.client(LOOPBACK).patch(CONFIG_MAPS, "a", {"data": {"x": "2"}}, "default")

    assert b'"x":"2"' in server.handler.hot(request).body


@pytest.mark.parametrize("accept", ["application/json", "application/vnd.kubernetes.protobuf"])
def test_an_event_that_was_read_lately_is_known_until_it_changes(server, accept):
    client = server.client(LOOPBACK)
    about = {"kind": "Pod", "namespace": "default", "name": "web", "uid": "1"}
    client.create(EVENTS, {"metadata": {"name": "e"}, "involvedObject": about, "reason": "Pulled"}, "default")
    request = ask("/api/v1/namespaces/default/events/e", accept=accept)
    unread = server.handler.hot(request)
    whole = server.handler.handle(request)

    known = server.handler.hot(request)
    client.patch(EVENTS, "e", {"count": 2}, "default")
    changed = server.handler.hot(request)

    assert (unread, comparable(known), changed) == (None, comparable(whole), None)


def test_a_request_is_told_by_its_id(server):
    server.handler.handle(ask(f"{BASE}/a"))

    given = server.handler.hot(ask(f"{BASE}/a", audit_id="mine"))
    made = [dict(server.handler.hot(ask(f"{BASE}/a")).headers)["Audit-Id"] for _ in range(2)]

    assert dict(given.headers)["Audit-Id"] == "mine"
    assert made[0] != made[1]


@pytest.mark.parametrize(
    "request_",
    [
        ask(f"{BASE}/a", query="pretty=1"),
        ask(f"{BASE}/a", accept="application/yaml"),
        ask(f"{BASE}/a", impersonate_user="bob"),
        ask(f"{BASE}/a", impersonate_uid="u"),
        ask(f"{BASE}/a", impersonate_extra_scope="s"),
        ask("/api/v1/namespaces/default/pods/p/log"),
        ask("/healthz"),
        ask(f"{BASE}/a", token="unknown"),
    ],
    ids=["query", "format", "impersonation", "uid alone", "extra alone", "subresource", "no resource", "unknown user"],
)
def test_all_else_goes_the_pipelines_way(server, request_):
    server.handler.handle(ask(f"{BASE}/a"))
    server.handler.hot(ask(f"{BASE}/a"))

    assert server.handler.hot(request_) is None


def test_who_may_read_does_not_open_it_for_others(server):
    for token in ("root", "sesame"):
        server.handler.handle(ask(f"{BASE}/a", token))
    assert server.handler.hot(ask(f"{BASE}/a")) is not None

    refused = server.handler.hot(ask(f"{BASE}/a", "sesame"))

    assert refused is None
    assert server.handler.handle(ask(f"{BASE}/a", "sesame")).status == 403


def test_what_was_allowed_ends_with_its_binding(server):
    client = server.client(LOOPBACK)
    group = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    binding = (
        b'{"metadata":{"name":"alice"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",'
        b'"name":"view"},"subjects":[{"kind":"User","name":"alice","apiGroup":"rbac.authorization.k8s.io"}]}'
    )
    headers = {"content-type": "application/json"}
    client.request("PATCH", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view", headers={
        "content-type": "application/merge-patch+json"}, body=b'{"aggregationRule":null,"rules":[{"apiGroups":[""],'
        b'"resources":["configmaps"],"verbs":["get"]}]}')  # fmt: skip
    assert client.request("POST", group, headers=headers, body=binding).status == 201
    request = ask(f"{BASE}/a", "sesame")
    allowed = eventually(lambda: server.handler.handle(request).status == 200)
    assert allowed
    assert server.handler.hot(request) is not None
    client.create(CONFIG_MAPS, {"metadata": {"name": "b"}}, "default")
    assert server.handler.hot(ask(f"{BASE}/b", "sesame")).status == 200, "an object that was never asked for before"

    client.request("DELETE", f"{group}/alice")

    assert eventually(lambda: server.handler.hot(request) is None)


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def test_the_first_table_of_a_resource_is_not_made_on_the_loop(server):
    request = ask(f"{BASE}/a", accept=TABLE)
    server.handler.handle(ask(f"{BASE}/a"))

    before = server.handler.hot(request)
    whole = server.handler.handle(request)

    assert before is None
    tables = [json.loads(answer.body) for answer in (server.handler.hot(request), whole)]
    for table in tables:
        table["rows"][0]["cells"].pop()  # the age, which may have changed between the two
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    "accept",
    [
        "application/vnd.kubernetes.protobuf, */*",
        "application/json, */*",
        "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    ],
)
def test_other_formats_are_the_same_answer(server, accept):
    request = ask(f"{BASE}/a", accept=accept)
    whole = server.handler.handle(request)

    assert comparable(server.handler.hot(request)) == comparable(whole)


def test_what_was_forgotten_is_found_again(server):
    request = ask(f"{BASE}/a")
    server.handler.handle(request)
    first = server.handler.hot(request)

    forget_all()

    server.handler.handle(request)
    assert comparable(server.handler.hot(request)) == comparable(first)
