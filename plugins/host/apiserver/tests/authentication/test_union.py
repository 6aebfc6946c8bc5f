import pytest
from hyperkube_host.apiserver.authentication.union import Authentication, credentials_of, misplaced_token
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import Unauthorized
from hyperkube.machinery.users import UserInfo


def request(certificate=(), **headers):
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpRequest(method="GET", path="/x", headers=given, certificate=certificate)


def names(name, seconds=0.0):
    return lambda credentials: Authenticated(UserInfo(name), (), seconds)


def refuses(credentials):
    raise Unauthorized


def silent(credentials):
    return None


@pytest.mark.parametrize("order", [[refuses, names("a")], [silent, names("a"), names("b")]])
def test_the_first_who_recognises_somebody_decides(order):
    assert Authentication(order, FakeClock()).authenticate(request()).name == "a"


def test_a_refusal_is_not_taken_for_anonymous():
    with pytest.raises(Unauthorized):
        Authentication([refuses, names("system:anonymous")], FakeClock()).authenticate(request())


def test_an_identity_is_remembered_for_its_time():
    clock = FakeClock()
    authentication = Authentication([names("a", 10)], clock)
    asked = request(authorization="Bearer t")
    authentication.authenticate(asked)

    assert authentication.remembered(asked) is not None
    assert authentication.remembered(request(authorization="Bearer u")) is None
    clock.advance(11)
    assert authentication.remembered(asked) is None


def test_the_certificate_of_a_proxy_does_not_say_who_asks():
    def by_header(credentials):
        lines = (credentials.headers or {}).get("x-remote-user")
        return Authenticated(UserInfo(lines[0])) if lines else None

    authentication = Authentication([by_header, names("proxy", 60)], FakeClock(), proxy_headers=["X-Remote-User"])
    proxy = (b"certificate",)
    authentication.authenticate(request(proxy))

    assert authentication.remembered(request(proxy)).name == "proxy"
    assert authentication.authenticate(request(proxy, x_remote_user="alice")).name == "alice"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"authorization": "Bearer t"}, Credentials(token="t")),
        ({"authorization": "bearer t"}, Credentials(token="t")),
        ({"authorization": "Basic YTpi"}, Credentials(basic=("a", "b"))),
        ({"authorization": "Basic !"}, Credentials()),
        (
            {
                "connection": "keep-alive, Upgrade",
                "upgrade": "websocket",
                "sec_websocket_protocol": "v4, base64url.bearer.authorization.k8s.io.dA",
            },
            Credentials(token="t"),
        ),
    ],
    ids=repr,
)
def test_credentials_are_read_off_the_headers(headers, expected):
    found = credentials_of(request(**headers))

    assert (found.token, found.basic, found.path) == (expected.token, expected.basic, "/x")


@pytest.mark.parametrize(
    ("written", "token", "misplaced"),
    [
        ("Bearer t", "t", False),
        ("  bearer t ", "t", False),
        ("Bearer t extra", "t", False),
        ("Bearer  t", "", True),
        ("Bearer ", "", False),
        ("t", "", False),
    ],
)
def test_a_token_stands_behind_one_space(written, token, misplaced):
    asked = request(authorization=written)

    assert (credentials_of(asked).token, misplaced_token(asked.headers)) == (token, misplaced)
