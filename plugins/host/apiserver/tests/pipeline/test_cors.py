"""Which web pages may use the API."""

import pytest
from hyperkube_host.apiserver.pipeline.cors import CrossOrigin, origins
from hyperkube_lib.serving.exchange import HttpRequest, Postponed, RelayUpgrade, Response

from hyperkube.machinery.errors import UsageError


class Inner:
    answer = None

    def handle(self, _request):
        return self.answer or Response(headers=[("Content-Type", "text/plain")], body=b"inner")

    def hot(self, _request):
        return Response(body=b"hot")

    def is_long_running(self, request):
        return request.path == "/long"


@pytest.fixture
def inner():
    return Inner()


@pytest.fixture
def handler(inner):
    return CrossOrigin(inner, origins(["//example.com(:|$)", r"^https://[a-z]+\.example\.org$"]))


def ask(method="GET", origin=""):
    return HttpRequest(method=method, path="/api", headers={"origin": origin} if origin else {})


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [("https://example.com", True), ("http://example.com:8080", True), ("https://a.example.org", True),
     ("https://example.com.evil.net", False), ("http://a.example.org", False), ("null", False)],
)  # fmt: skip
def test_pages_of_allowed_origins_get_the_headers(handler, origin, allowed):
    headers = dict(handler.handle(ask(origin=origin)).headers)

    assert headers.pop("Content-Type") == "text/plain"
    expected = {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": "POST, GET, OPTIONS, PUT, DELETE, PATCH",
        "Access-Control-Allow-Headers": "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization,"
        " X-Requested-With, If-Modified-Since",
        "Access-Control-Expose-Headers": "Date",
        "Access-Control-Allow-Credentials": "true",
    }
    assert headers == (expected if allowed else {})


def test_a_preflight_is_answered_without_the_server(handler):
    answer = handler.handle(ask("OPTIONS", "https://example.com"))

    assert (answer.status, answer.body) == (204, b"")
    assert ("Access-Control-Allow-Origin", "https://example.com") in answer.headers


def test_the_preflight_of_another_origin_is_the_servers_to_refuse(handler):
    assert handler.handle(ask("OPTIONS", "https://evil.net")).body == b"inner"


def test_only_requests_without_an_origin_are_answered_at_once(handler):
    assert handler.hot(ask()).body == b"hot"
    assert handler.hot(ask(origin="https://example.com")) is None


def test_a_request_that_waits_gets_the_headers_in_the_end(handler, inner):
    inner.answer = Postponed(wait=lambda ready: ready(), proceed=lambda: Response(body=b"later"))

    answer = handler.handle(ask(origin="https://example.com")).proceed()

    assert dict(answer.headers)["Access-Control-Allow-Origin"] == "https://example.com"


def test_what_is_passed_on_is_left_as_it_is(handler, inner):
    inner.answer = RelayUpgrade(host="h", port=1, path="/")

    assert handler.handle(ask(origin="https://example.com")) is inner.answer


@pytest.mark.parametrize("text", ["(", "example.com", "//example.com", "example.com$"])
def test_an_expression_that_matches_too_much_is_refused(text):
    with pytest.raises(UsageError, match="--cors-allowed-origins has an invalid regular expression"):
        origins([text])
