"""A whole server with an audit log, over a memory store."""

import json

import orjson
import pytest
from hyperkube_host.apiserver.serializer import list_pieces
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest, StreamResponse
from hyperkube_lib.serving.finite_streams import gathered

from hyperkube.kinds.resources import CONFIG_MAPS, SECRETS
from hyperkube.machinery.errors import NotFound, UsageError
from hyperkube.machinery.users import AUTHENTICATED_GROUP, UserInfo
from hyperkube.storage.memory import MemoryStore

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")

ALICE = UserInfo("alice", "7", ("dev", AUTHENTICATED_GROUP))
MAPS = "/api/v1/namespaces/default/configmaps"
SECRET = {"metadata": {"name": "s"}, "stringData": {"password": "sesame"}}


@pytest.fixture
def audited(tmp_path):
    servers = []

    def start(*rules, policy=None, **options):
        path = tmp_path / "policy.yaml"
        table = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": list(rules), **(policy or {})}
        path.write_bytes(orjson.dumps(table))
        tokens = tmp_path / "tokens.csv"
        tokens.write_text("sesame,alice,7,dev\n")
        flags = {
            "admission-control": ["AlwaysAdmit"],
            "authorization-mode": ["AlwaysAllow"],
            "token-auth-file": str(tokens),
            "audit-log-path": str(tmp_path / "audit.log"),
            "audit-policy-file": str(path),
            **options,
        }
        server = ApiServer(options=flags, store=MemoryStore())
        servers.append(server)
        server.start()
        return server

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def events(tmp_path):
    def read(user="alice"):
        # The server's own requests are written meanwhile, and of a line that crosses a page its beginning may be seen alone.
        whole = (tmp_path / "audit.log").read_bytes().rpartition(b"\n")[0]
        return [event for event in map(orjson.loads, whole.splitlines()) if event["user"]["username"] == user]

    return read


def http(server, method, path, body=None, query="", user=ALICE, **headers):
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    content = b"" if body is None else orjson.dumps(body)
    request = HttpRequest(
        method=method, path=path, query_string=query, headers=given, body=content, user=user, peer=("10.0.0.9", 1)
    )
    return server.handler.handle(request)


def test_both_ends_of_a_request_are_recorded(audited, events):
    server = audited({"level": "Metadata"})

    answer = http(server, "GET", MAPS, query="limit=1", user_agent="curl", x_forwarded_for="1.2.3.4")

    first, last = events()
    assert [first["stage"], last["stage"]] == ["RequestReceived", "ResponseComplete"]
    assert last["auditID"] == dict(answer.headers)["Audit-Id"]
    assert last["requestURI"] == f"{MAPS}?limit=1"
    assert last["user"] == {"username": "alice", "uid": "7", "groups": ["dev", "system:authenticated"]}
    assert (last["verb"], last["userAgent"], last["sourceIPs"]) == ("list", "curl", ["1.2.3.4", "10.0.0.9"])
    assert last["objectRef"] == {"resource": "configmaps", "namespace": "default", "apiVersion": "v1"}
    assert last["responseStatus"] == {"metadata": {}, "code": 200}
    assert last["annotations"]["authorization.k8s.io/decision"] == "allow"
    assert "responseStatus" not in first


def test_metadata_never_holds_a_secret(audited, tmp_path):
    server = audited({"level": "Metadata"})

    http(server, "POST", "/api/v1/namespaces/default/secrets", SECRET)
    http(server, "GET", "/api/v1/namespaces/default/secrets/s")
    server.client(ALICE).get(SECRETS, "s", "default")

    text = (tmp_path / "audit.log").read_text()
    assert '"name":"s"' in text
    assert "sesame" not in text
    assert "c2VzYW1l" not in text


def test_the_level_says_how_much_of_the_bodies_is_kept(audited, events):
    server = audited({"level": "Request", "verbs": ["create"]}, {"level": "RequestResponse", "verbs": ["patch"]})

    http(server, "POST", MAPS, {"metadata": {"name": "a"}, "data": {"k": "1"}})
    http(server, "PATCH", f"{MAPS}/a", {"data": {"k": "2"}}, content_type="application/merge-patch+json")

    _, created, _, patched = events()
    assert created["requestObject"]["data"] == {"k": "1"}
    assert "responseObject" not in created
    assert created["objectRef"]["name"] == "a"
    assert patched["requestObject"] == {"data": {"k": "2"}}
    assert patched["responseObject"]["data"] == {"k": "2"}


def test_managed_fields_may_be_left_out(audited, events):
    server = audited({"level": "RequestResponse"}, policy={"omitManagedFields": True})

    http(server, "POST", MAPS, {"metadata": {"name": "a"}})

    assert "managedFields" not in events()[-1]["responseObject"]["metadata"]


def test_what_no_rule_wants_is_not_recorded(audited, events):
    server = audited({"level": "None", "verbs": ["list"]}, {"level": "Metadata", "resources": [{"group": "apps"}]})

    http(server, "GET", MAPS)
    http(server, "GET", "/version")

    assert events() == []


def test_stages_may_be_omitted(audited, events):
    server = audited({"level": "Metadata"}, policy={"omitStages": ["RequestReceived"]})

    http(server, "GET", MAPS)

    assert [event["stage"] for event in events()] == ["ResponseComplete"]


def test_a_refusal_is_recorded_with_its_reason(audited, events):
    server = audited({"level": "Metadata"}, **{"authorization-mode": ["AlwaysDeny"]})

    http(server, "GET", MAPS)

    last = events()[-1]
    assert (last["responseStatus"]["code"], last["responseStatus"]["reason"]) == (403, "Forbidden")
    assert last["annotations"]["authorization.k8s.io/decision"] == "forbid"
    assert last["annotations"]["authorization.k8s.io/reason"] == "Everything is forbidden."


def test_who_acts_as_somebody_else_is_recorded_as_both(audited, events):
    server = audited({"level": "Metadata"})

    http(server, "GET", MAPS, impersonate_user="bob")

    last = events()[-1]
    assert last["impersonatedUser"]["username"] == "bob"
    assert last["authenticationMetadata"] == {"impersonationConstraint": "impersonate:user-info"}


def test_the_plain_right_to_impersonate_is_no_constraint(audited, events):
    server = audited({"level": "Metadata"}, **{"feature-gates": {"ConstrainedImpersonation": False}})

    http(server, "GET", MAPS, impersonate_user="bob")

    last = events()[-1]
    assert last["impersonatedUser"]["username"] == "bob"
    assert "authenticationMetadata" not in last


def test_wrong_credentials_are_recorded(audited, events):
    server = audited({"level": "RequestResponse"})

    http(server, "GET", MAPS, user=None, authorization="Bearer wrong")

    (event,) = events("")
    assert (event["level"], event["stage"], event["responseStatus"]["code"]) == ("Metadata", "ResponseStarted", 401)
    assert "wrong" not in orjson.dumps(event).decode()


def test_a_watch_ends_when_it_ends(audited, events):
    server = audited({"level": "Metadata"})

    answer = http(server, "GET", MAPS, query="watch=1")
    assert isinstance(answer, StreamResponse)
    assert [event["stage"] for event in events()] == ["RequestReceived", "ResponseStarted"]
    answer.source.close()
    answer.source.close()

    assert [event["stage"] for event in events()] == ["RequestReceived", "ResponseStarted", "ResponseComplete"]


def test_a_large_list_is_complete_when_it_was_sent(audited, events, monkeypatch):
    monkeypatch.setattr(list_pieces, "LARGE", 1)
    server = audited({"level": "Metadata"})
    http(server, "POST", MAPS, {"metadata": {"name": "m"}}, content_type="application/json")

    answer = http(server, "GET", MAPS)
    stages = [event["stage"] for event in events() if event["verb"] == "list"]
    gathered(answer)

    last = events()[-1]
    assert stages == ["RequestReceived"]
    assert (last["verb"], last["stage"], last["responseStatus"]["code"]) == ("list", "ResponseComplete", 200)


def test_a_large_list_is_recorded_whole_where_answers_are(audited, events, monkeypatch):
    monkeypatch.setattr(list_pieces, "LARGE", 1)
    server = audited({"level": "RequestResponse"})
    http(server, "POST", MAPS, {"metadata": {"name": "m"}}, content_type="application/json")

    answer = http(server, "GET", MAPS)

    last = events()[-1]
    assert (last["verb"], last["stage"]) == ("list", "ResponseComplete")
    assert last["responseObject"] == orjson.loads(answer.body)


def test_requests_of_this_process_are_recorded_too(audited, events):
    client = audited({"level": "Request"}).client(ALICE)

    client.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "1"}}, "default")
    with pytest.raises(NotFound):
        client.get(CONFIG_MAPS, "none", "default")

    _, created, _, failed = events()
    assert created["requestObject"]["data"] == {"k": "1"}
    assert created["responseStatus"]["code"] == 201
    assert (failed["requestURI"], failed["responseStatus"]["code"]) == (f"{MAPS}/none", 404)


def test_hot_reads_are_recorded_or_not_wanted(audited, events):
    server = audited({"level": "None", "users": ["alice"], "resources": [{"group": "", "resources": ["secrets"]}]},
                     {"level": "Metadata"})  # fmt: skip
    for path in (MAPS, "/api/v1/namespaces/default/secrets"):
        request = HttpRequest(method="GET", path=path, headers={"authorization": "Bearer sesame"})
        server.handler.handle(request)
        assert (server.handler.hot(request) is None) is (path == MAPS)

    assert {event["objectRef"]["resource"] for event in events()} == {"configmaps"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"audit-log-format": "xml"}, "invalid audit log format xml"),
        ({"audit-log-mode": "never"}, "invalid audit log mode never"),
        ({"audit-policy-file": "/none"}, "cannot read Policy file"),
    ],
)
def test_wrong_flags_are_refused_at_start(audited, options, message):
    with pytest.raises(UsageError, match=message):
        audited({"level": "Metadata"}, **options)


def test_without_a_policy_every_request_is_written_without_its_body(audited, tmp_path):
    server = audited({"level": "None"}, **{"audit-policy-file": ""})
    http(server, "GET", MAPS)

    lines = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    assert {"Metadata"} == {line["level"] for line in lines}
    assert MAPS in {line["requestURI"] for line in lines}


def test_without_a_policy_the_first_form_is_written_too(audited, tmp_path):
    server = audited({"level": "Metadata"}, **{"audit-policy-file": "", "audit-log-format": "legacy"})
    http(server, "GET", MAPS)

    assert ' AUDIT: id="' in (tmp_path / "audit.log").read_text()
