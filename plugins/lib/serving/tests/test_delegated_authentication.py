"""Who sends a request: what a certificate and a token prove, alone and together."""

import pytest
from hyperkube_lib.client_certificates import FrontProxy
from hyperkube_lib.serving.delegated_authentication import DelegatedAuthentication
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_testing.peers.certificates import issue

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import ServiceUnavailable, Unauthorized
from hyperkube.machinery.users import UserInfo

ANONYMOUS = UserInfo("system:anonymous", "", ("system:unauthenticated",))
JANE = {"username": "jane", "uid": "1", "groups": ["devs"], "extra": {"example.com/site": ["a", "b"]}}
AUTHORITY = issue("ca", authority=True)
SOUND = issue("carl", ["ops"], by=AUTHORITY).der
NAMELESS = issue("", by=AUTHORITY).der
FOREIGN = issue("carl", by=issue("other", authority=True)).der


class Api:
    """Reviews tokens, and counts how often."""

    def __init__(self):
        self.asked = 0
        self.down = False

    def create(self, _resource, review):
        self.asked += 1
        if self.down:
            raise ServiceUnavailable("down")
        known = review["spec"]["token"] == "good"
        return {"status": {"authenticated": True, "user": JANE} if known else {"error": "unknown"}}


@pytest.fixture
def ca(tmp_path):
    (tmp_path / "ca.crt").write_bytes(AUTHORITY.pem)
    return str(tmp_path / "ca.crt")


def who(authentication, *, token="", certificate=None, scheme="Bearer"):
    """Return the name of the user, or None where the request is refused."""
    headers = {"authorization": f"{scheme} {token}"} if token else {}
    chain = (certificate,) if certificate else ()
    try:
        return authentication.authenticate(
            HttpRequest(method="GET", path="/x", headers=headers, certificate=chain)
        ).name
    except Unauthorized:
        return None


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        pytest.param({}, "system:anonymous", id="nothing"),
        pytest.param({"token": "good"}, "jane", id="a token"),
        pytest.param({"token": "good", "scheme": "bearer"}, "jane", id="the scheme in small letters"),
        pytest.param({"token": "bad"}, None, id="an unknown token"),
        pytest.param({"token": "x:y", "scheme": "Basic"}, "system:anonymous", id="another scheme"),
        pytest.param({"certificate": SOUND}, "carl", id="a certificate"),
        pytest.param({"certificate": SOUND, "token": "bad"}, "carl", id="a certificate goes before a token"),
        pytest.param({"certificate": FOREIGN}, None, id="a certificate of another authority"),
        pytest.param({"certificate": FOREIGN, "token": "good"}, "jane", id="a token in place of a refused certificate"),
        pytest.param({"certificate": FOREIGN, "token": "bad"}, None, id="neither proves anything"),
        pytest.param({"certificate": NAMELESS}, "system:anonymous", id="a certificate without a name"),
        pytest.param({"certificate": b"garbage"}, None, id="no certificate at all"),
    ],
)
def test_who_sends_a_request(ca, sent, name):
    assert who(DelegatedAuthentication(FakeClock(), Api(), client_ca_file=ca), **sent) == name


def test_without_the_anonymous_a_proof_is_needed(ca):
    closed = DelegatedAuthentication(FakeClock(), Api(), client_ca_file=ca, anonymous=False)

    assert [who(closed), who(closed, certificate=NAMELESS), who(closed, certificate=FOREIGN)] == [None, None, None]
    assert [who(closed, token="good"), who(closed, certificate=SOUND)] == ["jane", "carl"]


def test_ways_that_are_not_configured_say_nothing():
    nobody_to_ask = DelegatedAuthentication(FakeClock(), None)
    closed = DelegatedAuthentication(FakeClock(), None, anonymous=False)

    assert [who(nobody_to_ask, token="good"), who(nobody_to_ask, certificate=SOUND)] == ["system:anonymous"] * 2
    assert [who(closed, token="good"), who(closed, certificate=SOUND)] == [None, None]


def test_a_user_comes_with_all_that_the_review_says():
    request = HttpRequest(method="GET", path="/x", headers={"authorization": "Bearer good"})

    user = DelegatedAuthentication(FakeClock(), Api()).authenticate(request)

    assert user == UserInfo("jane", "1", ("devs", "system:authenticated"), {"example.com/site": ("a", "b")})


def test_an_answer_is_good_for_a_while_and_an_error_is_not():
    clock, api = FakeClock(), Api()
    authentication = DelegatedAuthentication(clock, api, token_seconds=120)
    assert [who(authentication, token=token) for token in ("good", "bad", "good", "bad")] == [
        "jane",
        None,
        "jane",
        None,
    ]
    assert api.asked == 2

    clock.advance(121)
    api.down = True
    assert [who(authentication, token="good"), who(authentication, token="good")] == [None, None]
    assert api.asked == 4
    api.down = False
    assert who(authentication, token="good") == "jane"


def test_a_front_proxy_says_who_sends_a_request(ca, tmp_path):
    proxies = issue("proxies", authority=True)
    (tmp_path / "proxies.crt").write_bytes(proxies.pem)
    own, other = issue("front", by=proxies).der, issue("stranger", by=proxies).der
    proxy = FrontProxy(str(tmp_path / "proxies.crt"), allowed_names=["front"])
    authentication = DelegatedAuthentication(FakeClock(), None, client_ca_file=ca, front_proxy=proxy, anonymous=False)

    def user(certificate, **headers):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        request = HttpRequest(method="GET", path="/x", headers=sent, certificate=(certificate,))
        try:
            return authentication.authenticate(request)
        except Unauthorized:
            return None

    named = user(own, x_remote_user="jane", x_remote_group="devs", x_remote_extra_site="a")
    assert named == UserInfo("jane", "", ("devs", "system:authenticated"), {"site": ("a",)})
    assert user(other, x_remote_user="jane") is None
    assert user(own) is None
    assert user(SOUND).name == "carl"
    assert user(SOUND, x_remote_user="jane").name == "carl"
