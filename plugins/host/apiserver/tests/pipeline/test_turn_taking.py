"""Which writes take turns, and that they are the same writes."""

import threading

import orjson
import pytest
from hyperkube_host.apiserver.pipeline.turn_taking import LARGEST_BODY, TurnTaking
from hyperkube_host.apiserver.request.request_info import KnownPaths
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.serving.known_heads import Head
from hyperkube_lib.serving.loop import EdgeLoop
from hyperkube_lib.serving.priority import Priority
from hyperkube_lib.transformed_store import TransformedStore, Transformers

from hyperkube.machinery.users import UserInfo
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

BASE = "/api/v1/namespaces/default"


@pytest.fixture(scope="module")
def tokens(tmp_path_factory):
    file = tmp_path_factory.mktemp("turns") / "tokens.csv"
    file.write_text("root,root,2,system:masters\n")
    return str(file)


def started(tokens, store):
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["RBAC"], "token-auth-file": tokens}
    server = ApiServer(options=options, store=store)
    server.start()
    server.informers.wait_synced(60)
    eventually(server.ready, why="the first answers would lack what its start has not made yet")
    return server


@pytest.fixture(scope="module")
def server(tokens):
    server = started(tokens, MemoryStore())
    server.handler.handle(ask("GET", BASE))  # which makes the user known
    yield server
    server.close()


def ask(method, path, body=b"", token="root", **headers):
    given = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpRequest(method=method, path=path, headers=given, body=body)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{BASE}/configmaps"),
        ("PUT", f"{BASE}/configmaps/a"),
        ("PATCH", f"{BASE}/pods/p/status"),
        ("DELETE", f"{BASE}/pods/p"),
        ("POST", f"{BASE}/pods/p/binding"),
        ("POST", f"{BASE}/pods/p/eviction"),
        ("PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale"),
    ],
)
def test_plain_writes_take_turns(server, method, path):
    assert server.handler.takes_turns(ask(method, path))


@pytest.mark.parametrize(
    ("method", "path", "priority"),
    [
        ("POST", f"{BASE}/pods/p/binding", Priority.HIGH),
        ("POST", f"{BASE}/bindings", Priority.HIGH),
        ("POST", f"{BASE}/events", Priority.LOW),
        ("POST", "/apis/events.k8s.io/v1/namespaces/default/events", Priority.LOW),
        ("DELETE", f"{BASE}/events/e", Priority.USUAL),
        ("DELETE", f"{BASE}/pods/binding", Priority.USUAL),
        ("PATCH", f"{BASE}/pods/p/status", Priority.USUAL),
        ("POST", f"{BASE}/pods", Priority.USUAL),
    ],
)
def test_bindings_go_before_other_writes_and_events_after(server, method, path, priority):
    assert server.handler.priority(ask(method, path)) is priority


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(ask("POST", f"{BASE}/configmaps", token="new"), id="unknown user"),
        pytest.param(ask("POST", f"{BASE}/configmaps", impersonate_user="bob"), id="impersonation"),
        pytest.param(ask("POST", f"{BASE}/configmaps", b" " * (LARGEST_BODY + 1)), id="large"),
        pytest.param(ask("DELETE", f"{BASE}/configmaps"), id="many"),
        pytest.param(ask("POST", f"{BASE}/serviceaccounts/default/token"), id="signs"),
        pytest.param(ask("POST", f"{BASE}/pods/p/exec"), id="connects"),
        pytest.param(ask("PUT", f"{BASE}/services/s/proxy"), id="proxied"),
        pytest.param(ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews"), id="asks reviewers"),
        pytest.param(ask("PUT", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/c"), id="compiles schemas"),
        pytest.param(
            ask("POST", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"), id="compiles expressions"
        ),
        pytest.param(ask("POST", f"{BASE}/nothing"), id="not served"),
        pytest.param(ask("POST", "/logs"), id="no resource"),
    ],
)
def test_what_may_wait_or_takes_long_has_a_thread_of_its_own(server, request_):
    assert not server.handler.takes_turns(request_)


def defined(server, plural, schema):
    """Have the server serve a custom resource; return where its objects are."""
    kind = plural.title()
    crd = {
        "metadata": {"name": f"{plural}.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert server.handler.handle(ask("POST", path, orjson.dumps(crd))).status == 201
    objects = f"/apis/example.org/v1/namespaces/default/{plural}"
    eventually(lambda: server.handler.handle(ask("GET", objects)).status == 200)
    return objects


@pytest.mark.parametrize(("plural", "rules"), [("plains", []), ("ruleds", [{"rule": "self.spec.n < 3"}])])
def test_custom_objects_take_turns_unless_their_schema_has_rules(server, plural, rules):
    pytest.importorskip("hyperkube_api.apiextensions", reason="needs the API group of definitions")
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"n": {"type": "integer"}}}}}
    objects = defined(server, plural, schema | ({"x-kubernetes-validations": rules} if rules else {}))

    assert server.handler.takes_turns(ask("POST", objects)) is not bool(rules)


def test_what_is_written_to_another_store_has_a_thread_of_its_own(server):
    handler = server.handler
    alike = TurnTaking(server.handler._pipeline.services, server.authentication, None, handler._clock, KnownPaths(), MemoryStore())  # fmt: skip

    assert handler.takes_turns(ask("POST", f"{BASE}/configmaps"))
    assert not alike.takes(ask("POST", f"{BASE}/configmaps"))


@pytest.fixture
def loop():
    made = EdgeLoop()
    made.start()
    yield made
    made.close()


def test_a_write_on_a_turn_is_answered_like_any_other(server, loop):
    answers, done = [], threading.Event()
    requests = [
        ask("POST", f"{BASE}/configmaps", b'{"metadata":{"name":"a"},"data":{"x":"1"}}'),
        ask("POST", f"{BASE}/configmaps", b'{"metadata":{"name":"a"}}'),
        ask("PATCH", f"{BASE}/configmaps/a", b'{"data":{"x":"2"}}', content_type="application/merge-patch+json"),
        ask("DELETE", f"{BASE}/configmaps/a"),
    ]

    def answer(request):
        answers.append(server.handler.handle(request).status)
        if len(answers) == len(requests):
            done.set()

    server.handler.turns.join(loop)
    for request in requests:
        loop.post(server.handler.turns.submit, lambda request=request: answer(request))

    assert done.wait(60)
    assert answers == [201, 409, 200, 200]


def test_with_a_store_that_does_not_queue_nothing_takes_turns(tokens):
    store = TransformedStore(MemoryStore(), Transformers([]))

    server = ApiServer(options={"token-auth-file": tokens, "admission-control": ["AlwaysAdmit"]}, store=store)

    assert server.handler.turns is None
    assert not server.handler.takes_turns(ask("POST", f"{BASE}/configmaps"))
    server.close()
    store.close()


def known_lines(token="root", **headers):
    asked = ask("POST", f"{BASE}/configmaps", token=token, **headers)
    return Head(asked.headers, gzip=False)


def of_lines(head, certificate=()):
    return HttpRequest(
        method="POST", path=f"{BASE}/configmaps", headers=head.headers, head=head, certificate=certificate
    )


def test_who_sends_known_lines_is_looked_up_once(server):
    head = known_lines()
    first, second = of_lines(head), of_lines(head)

    assert server.handler.takes_turns(first)
    found = head.read
    assert server.handler.takes_turns(second)
    assert head.read is found
    assert first.sender is second.sender
    assert first.sender.name == "root"


def test_the_same_lines_with_another_certificate_are_another_sender(server):
    head = known_lines()
    assert server.handler.takes_turns(of_lines(head))

    other = of_lines(head, certificate=(b"der",))
    server.handler.takes_turns(other)

    assert other.sender is None


@pytest.mark.parametrize("header", [{"impersonate_user": "bob"}, {"impersonate_group": "b"}])
def test_known_lines_that_act_as_another_have_no_sender(server, header):
    head = known_lines(**header)
    for _ in range(2):
        asked = of_lines(head)
        assert not server.handler.takes_turns(asked)
        assert asked.sender is None


def test_a_sender_whose_time_is_over_is_identified_again(server):
    head = known_lines()
    server.handler.takes_turns(of_lines(head))
    head.read = head.read._replace(user=UserInfo("gone"), until=0.0)

    asked = of_lines(head)
    server.handler.takes_turns(asked)

    assert asked.sender.name == "root"
