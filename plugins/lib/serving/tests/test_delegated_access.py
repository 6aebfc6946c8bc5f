"""Who may use a server's HTTPS port: whom the API server knows, and whom it lets."""

from __future__ import annotations

import orjson
import pytest
from hyperkube_lib.serving.delegated_access import DelegatedAccess, Guarded
from hyperkube_lib.serving.delegated_authentication import DelegatedAuthentication
from hyperkube_lib.serving.delegated_authorization import DelegatedAuthorization
from hyperkube_lib.serving.exchange import HttpRequest, Response

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import NotFound

TOKENS = {"good": {"username": "jane", "groups": ["devs"]}, "root": {"username": "r", "groups": ["system:masters"]}}


class Api:
    """Reviews tokens and access, as an API server does, and notes what it was asked."""

    def __init__(self):
        self.asked = []
        self.allowed = {("jane", "get", "/metrics")}
        self.down = False

    def create(self, resource, review):
        self.asked.append(review)
        if self.down:
            raise NotFound("gone")
        spec = review["spec"]
        if resource.resource == "tokenreviews":
            user = TOKENS.get(spec["token"])
            return {"status": {"authenticated": True, "user": user} if user else {}}
        wanted = spec["nonResourceAttributes"]
        return {"status": {"allowed": (spec["user"], wanted["verb"], wanted["path"]) in self.allowed}}


class Inside:
    def handle(self, request):
        return Response(body=b"inside")

    def hot(self, request):
        return Response(body=b"hot")

    def is_long_running(self, request):
        return request.path == "/long"


@pytest.fixture
def api():
    return Api()


@pytest.fixture
def clock():
    return FakeClock()


def guarded(clock, api, *, client_ca_file="", **options):
    authentication = DelegatedAuthentication(clock, api, client_ca_file=client_ca_file)
    return Guarded(Inside(), DelegatedAccess(authentication, DelegatedAuthorization(clock, api), **options))


def ask(handler, path="/metrics", token="", method="GET"):
    headers = {"authorization": f"Bearer {token}"} if token else {}
    answer = handler.handle(HttpRequest(method=method, path=path, headers=headers))
    return answer.status, answer.body.decode()


def test_health_is_open_to_everybody_and_nothing_else_is(clock, api):
    handler = guarded(clock, api)

    assert [ask(handler, path)[0] for path in ("/healthz", "/livez", "/readyz")] == [200, 200, 200]
    status, body = ask(handler)
    assert status == 403
    assert orjson.loads(body) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'forbidden: User "system:anonymous" cannot get path "/metrics"',
        "reason": "Forbidden",
        "details": {},
        "code": 403,
    }


def test_a_path_below_an_open_one_is_not_open_unless_said_so(clock, api):
    assert ask(guarded(clock, api), "/healthz/ping")[0] == 403
    assert ask(guarded(clock, api, open_paths=("/healthz/*",)), "/healthz/ping")[0] == 200


def test_whom_the_api_server_lets_is_let_in_and_nobody_else(clock, api):
    handler = guarded(clock, api)

    assert ask(handler, token="good") == (200, "inside")
    assert ask(handler, "/configz", token="good")[0] == 403
    assert ask(handler, token="good", method="DELETE")[0] == 403
    assert ask(handler, "/anything", token="root")[0] == 200


def test_a_token_that_nobody_knows_is_refused_even_where_all_may_go(clock, api):
    status, body = ask(guarded(clock, api), "/healthz", token="bad")

    assert (status, orjson.loads(body)["message"]) == (401, "Unauthorized")


def test_an_authenticated_user_is_in_their_group(clock, api):
    ask(guarded(clock, api), token="good")

    assert api.asked[-1]["spec"]["groups"] == ["devs", "system:authenticated"]


def test_answers_are_kept_for_ten_seconds(clock, api):
    handler = guarded(clock, api)
    ask(handler, token="good")
    asked = len(api.asked)

    ask(handler, token="good")
    assert len(api.asked) == asked
    api.allowed.clear()
    clock.advance(11)
    assert ask(handler, token="good")[0] == 403


def test_an_api_server_that_does_not_answer_lets_nobody_in(clock, api):
    handler = guarded(clock, api)
    api.down = True

    assert ask(handler) == (500, 'Internal Server Error: "/metrics": gone\n')
    assert ask(handler, token="good")[0] == 401
    assert ask(handler, "/healthz")[0] == 200


def test_without_credentials_tokens_say_nothing_and_all_but_health_is_closed(clock):
    handler = guarded(clock, None)

    assert ask(handler, "/healthz", token="any")[0] == 200
    assert ask(handler, token="any")[0] == 403


def test_a_certificate_says_who(clock, api, tmp_path):
    from hyperkube_testing.peers.certificates import issue

    authority = issue("ca", authority=True)
    client = issue("jane", ["devs"], by=authority)
    (tmp_path / "ca.crt").write_bytes(authority.pem)
    handler = guarded(clock, api, client_ca_file=str(tmp_path / "ca.crt"))
    request = HttpRequest(method="GET", path="/metrics", certificate=(client.der,))

    assert handler.handle(request).status == 200
    stranger = issue("jane", by=issue("other", authority=True))
    assert handler.handle(HttpRequest(method="GET", path="/metrics", certificate=(stranger.der,))).status == 401


def test_nothing_is_answered_before_the_check(clock, api):
    handler = guarded(clock, api)

    assert handler.hot(HttpRequest(method="GET", path="/metrics")) is None
    assert handler.is_long_running(HttpRequest(method="GET", path="/long"))
