import hmac
import json
from base64 import urlsafe_b64encode
from hashlib import sha256

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hyperkube_authn.oidc import OIDC
from hyperkube_testing.peers.openid_issuer import OpenIdIssuer, jwk, signing_key

from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.errors import Unauthorized, UsageError
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract

RSA_KEY = signing_key("r", "RS256")
OTHER_RSA_KEY = signing_key("other", "RS256")
EC_KEY = signing_key("e", "ES256")


@pytest.fixture
def build(peer, issuer, clock):
    def made(**options):
        flags = {
            "oidc_issuer_url": issuer.url,
            "oidc_client_id": "kube",
            "oidc_ca_file": str(peer.ca_file),
            "oidc_signing_algs": ["RS256", "ES256"],
            **options,
        }
        return OIDC(PluginContext(name="OIDC", settings=flags, clock=clock))

    return made


@pytest.fixture
def from_file(tmp_path, clock):
    def made(*rows, **more):
        path = tmp_path / "authentication.yaml"
        config = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", **more}
        path.write_text(json.dumps({**config, "jwt": list(rows)}))
        return OIDC(PluginContext(name="OIDC", settings={"authentication_config": str(path)}, clock=clock))

    return made


def row(peer, source, /, **more):
    issued = {"url": source.url, "audiences": ["kube"], "certificateAuthority": peer.ca_file.read_text()}
    return {"issuer": issued, "claimMappings": {"username": {"claim": "sub", "prefix": "one:"}}, **more}


def ask(built, token, **more):
    return built.authn_authenticate(Credentials(token=token, **more))


def hs256_with_the_public_key(issuer):
    """A token signed with the published key as if it were a shared secret."""
    public = RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    now = int(issuer._clock.now().timestamp())
    parts = [
        {"alg": "HS256", "typ": "JWT", "kid": "r"},
        {"iss": issuer.url, "aud": "kube", "sub": "alice", "exp": now + 600},
    ]
    text = b".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    signature = urlsafe_b64encode(hmac.digest(public, text, sha256)).rstrip(b"=")
    return (text + b"." + signature).decode()


class TestPromises(AuthnContract):
    @pytest.fixture
    def built(self, build, issuer):
        self.issuer = issuer
        return build()

    def good(self, built):
        return [Credentials(token=self.issuer.token("r")), Credentials(token=self.issuer.token("e"))]

    def bad(self, built):
        return [
            Credentials(token=token)
            for token in (
                self.issuer.token(exp=1),
                self.issuer.token(exp=None),
                self.issuer.token(nbf=9_999_999_999),
                self.issuer.token(aud="other"),
                self.issuer.token(aud=None),
                self.issuer.token(sub=None),
                self.issuer.token(sub=""),
                self.issuer.token(key=OTHER_RSA_KEY),
                self.issuer.token(key=EC_KEY, algorithm="ES256"),
                self.issuer.token(algorithm="RS512"),
                self.issuer.token(headers={"kid": "unknown"}),
                jwt.encode({"iss": self.issuer.url, "aud": "kube", "sub": "alice", "exp": 9_999_999_999}, "", "none"),
                hs256_with_the_public_key(self.issuer),
            )
        ]

    def foreign(self, built):
        return [Credentials(token="a.b.c"), Credentials(token=self.issuer.token(iss="https://elsewhere.example"))]


def test_names_are_told_apart_by_issuer_unless_a_prefix_says_otherwise(build, issuer):
    plain, none, own = build(), build(oidc_username_prefix="-"), build(oidc_username_prefix="oidc:")

    names = [ask(built, issuer.token()).user.name for built in (plain, none, own)]

    assert names == [f"{issuer.url}#alice", "alice", "oidc:alice"]


@pytest.mark.parametrize(
    ("claims", "groups"),
    [({"groups": ["a", "b"]}, ("g:a", "g:b")), ({"groups": "a"}, ("g:a",)), ({}, ())],
    ids=["several", "one", "none"],
)
def test_groups_come_from_their_claim(build, issuer, claims, groups):
    built = build(oidc_groups_claim="groups", oidc_groups_prefix="g:")

    assert ask(built, issuer.token(**claims)).user.groups == groups


def test_a_groups_claim_of_another_kind_is_refused(build, issuer):
    built = build(oidc_groups_claim="groups")

    with pytest.raises(Unauthorized):
        ask(built, issuer.token(groups={"a": 1}))


@pytest.mark.parametrize(("verified", "known"), [(None, True), (True, True), (False, False), ("true", False)])
def test_an_email_address_must_be_verified(build, issuer, verified, known):
    built = build(oidc_username_claim="email")
    token = issuer.token(email="a@example.com", email_verified=verified)

    if known:
        assert ask(built, token).user.name == "a@example.com"
    else:
        with pytest.raises(Unauthorized):
            ask(built, token)


def test_required_claims_must_be_there(build, issuer):
    built = build(oidc_required_claim={"hd": "example.com"})

    assert ask(built, issuer.token(hd="example.com")) is not None
    for claims in ({}, {"hd": "other.com"}, {"hd": ["example.com"]}):
        with pytest.raises(Unauthorized):
            ask(built, issuer.token(**claims))


def test_a_new_key_is_fetched_but_not_too_often(build, issuer, clock):
    built = build()
    ask(built, issuer.token())
    issuer.keys = [jwk("new", "RS256", OTHER_RSA_KEY)]
    token = issuer.token(key=OTHER_RSA_KEY, algorithm="RS256", headers={"kid": "new"})

    with pytest.raises(Unauthorized):
        ask(built, token)
    assert issuer.fetches() == 1
    clock.advance(11)

    assert ask(built, token) is not None
    with pytest.raises(Unauthorized):
        ask(built, issuer.token())
    assert issuer.fetches() == 2


def test_an_issuer_that_calls_itself_something_else_is_not_believed(build, issuer):
    issuer.name = "https://evil.example"

    with pytest.raises(Unauthorized):
        ask(build(), issuer.token())


def test_an_issuer_whose_certificate_is_unknown_is_not_believed(build, issuer):
    with pytest.raises(Unauthorized):
        ask(build(oidc_ca_file=""), issuer.token())


def test_several_issuers_come_from_a_file(from_file, peer, issuer, clock):
    other = OpenIdIssuer(peer, "/two", clock)
    mapped = {
        "username": {"claim": "mail", "prefix": ""},
        "groups": {"claim": "roles", "prefix": "two:"},
        "uid": {"claim": "sub"},
    }
    rules = [{"claim": "hd", "requiredValue": "x"}]
    built = from_file(row(peer, issuer), row(peer, other, claimMappings=mapped, claimValidationRules=rules))

    first = ask(built, issuer.token("e")).user
    second = ask(built, other.token("r", mail="m", roles=["r"], hd="x", jti="7")).user

    assert first.name == "one:alice"
    assert (second.name, second.uid, second.groups) == ("m", "alice", ("two:r",))
    assert second.extra == {}
    with pytest.raises(Unauthorized):
        ask(built, other.token(mail="m"))


def test_the_discovery_document_may_be_elsewhere(from_file, peer, issuer):
    peer.answers["/elsewhere"] = peer.answers.pop("/one/.well-known/openid-configuration")
    table = row(peer, issuer)
    table["issuer"]["discoveryURL"] = f"{peer.url}/elsewhere"

    assert ask(from_file(table), issuer.token()).user.name == "one:alice"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"oidc_client_id": ""}, "must be specified together"),
        ({"oidc_issuer_url": "http://plain.example"}, "must be an https URL"),
        ({"oidc_signing_algs": ["HS256"]}, "'HS256' is not supported"),
        ({"oidc_ca_file": "/none"}, "cannot read oidc-ca-file"),
        ({"authentication_config": "/none"}, "mutually exclusive"),
    ],
)
def test_wrong_flags_are_refused_at_start(build, options, message):
    with pytest.raises(UsageError, match=message):
        build(**options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claimMappings": {"username": {"claim": "sub"}}}, "prefix is required"),
        ({"claimMappings": {}}, "claim or expression is required"),
        ({"issuer": {"url": "https://x.example"}}, r"at least one jwt\[0\].issuer.audiences is required"),
        ({"isuer": {}}, "unknown field 'isuer'"),
    ],
)
def test_a_wrong_file_is_refused_at_start(from_file, peer, issuer, change, message):
    with pytest.raises(UsageError, match=message):
        from_file(row(peer, issuer, **change))


def test_one_issuer_may_not_stand_there_twice(from_file, peer, issuer):
    with pytest.raises(UsageError, match=r"jwt\[1\].issuer.url: Duplicate value"):
        from_file(row(peer, issuer), row(peer, issuer))


@pytest.mark.parametrize(("uri", "why"), [
    ("https://issuer.example:99999/keys", "port out of range 0-65535"),
    ("https://issuer.example:x/keys", "port could not be cast to integer value as 'x'"),
    ("https://[::1/keys", "invalid ipv6 url"),
    ("http://issuer.example/keys", "no https url"),
    ("/keys", "no https url"),
    ({"a": 1}, "no https url"),
    (None, "no https url"),
])  # fmt: skip
def test_keys_that_are_nowhere_let_no_user_in(build, peer, issuer, caplog, uri, why):
    found = {"issuer": issuer.url, "jwks_uri": uri}
    peer.answers["/one/.well-known/openid-configuration"] = lambda _: found

    with pytest.raises(Unauthorized):
        ask(build(), issuer.token())

    assert why in caplog.text.lower()


@pytest.mark.parametrize(
    "keys", [5, "x", {"kid": "r"}, [5, None, [], {"kty": "RSA"}, {"kty": "EC", "crv": []}]], ids=repr
)
def test_keys_of_another_kind_let_no_user_in(build, peer, issuer, keys):
    peer.answers["/one/keys"] = lambda _: {"keys": keys}

    with pytest.raises(Unauthorized):
        ask(build(), issuer.token())


def test_keys_without_an_end_let_no_user_in(build, peer, issuer, caplog):
    peer.answers["/one/keys"] = lambda _: {"keys": [], "filling": "x" * (5 << 20)}

    with pytest.raises(Unauthorized):
        ask(build(), issuer.token())

    assert "the answer is longer than" in caplog.text
