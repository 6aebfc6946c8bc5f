"""Expressions of an AuthenticationConfiguration: what they make of claims, what they refuse, and wrong ones."""

import json
import logging

import pytest
from hyperkube_authn.oidc import OIDC
from hyperkube_authn.oidc.file import from_file
from hyperkube_testing.peers.openid_issuer import OpenIdIssuer

from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.errors import Unauthorized, UsageError
from hyperkube.plugin import PluginContext


def row(peer, source, /, **more):
    issued = {"url": source.url, "audiences": ["kube"], "certificateAuthority": peer.ca_file.read_text()}
    return {"issuer": issued, "claimMappings": {"username": {"claim": "sub", "prefix": "one:"}}, **more}


def ask(built, token):
    return built.authn_authenticate(Credentials(token=token))


class File:
    """An AuthenticationConfiguration file that can be written again."""

    def __init__(self, folder):
        self.path = folder / "authentication.yaml"

    def write(self, *rows, **more):
        config = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", **more}
        self.path.with_suffix(".new").write_text(json.dumps({**config, "jwt": list(rows)}))
        self.path.with_suffix(".new").rename(self.path)


@pytest.fixture
def file(tmp_path):
    return File(tmp_path)


@pytest.fixture
def build(file, clock):
    def made(*rows, **options):
        file.write(*rows)
        options = {"authentication_config": str(file.path), **options}
        return OIDC(PluginContext(name="OIDC", settings=options, clock=clock))

    return made


def test_expressions_make_the_user(build, peer, issuer):
    mapped = {
        "username": {"expression": "claims.sub + ':' + string(claims.level)"},
        "groups": {"expression": "claims.roles.filter(r, r.startsWith('k-')).map(r, r.substring(2))"},
        "uid": {"expression": "claims.?oid.orValue('none')"},
        "extra": [
            {"key": "example.org/tenant", "valueExpression": "claims.tenant"},
            {"key": "example.org/empty", "valueExpression": "claims.?nothing.orValue('')"},
        ],
    }

    found = ask(build(row(peer, issuer, claimMappings=mapped)), issuer.token(level=3, roles=["k-a", "x"], tenant=["t"]))

    assert (found.user.name, found.user.groups, found.user.uid) == ("alice:3", ("a",), "none")
    assert found.user.extra == {"example.org/tenant": ("t",)}


@pytest.mark.parametrize(
    ("rules", "claims", "logged"),
    [
        (
            {"claimValidationRules": [{"expression": "claims.hd == 'example.com'", "message": "wrong domain"}]},
            {"hd": "other.com"},
            (
                "error evaluating claim validation expression: "
                "validation expression 'claims.hd == 'example.com'' failed: wrong domain"
            ),
        ),
        (
            {"claimValidationRules": [{"expression": "claims.hd == 'example.com'"}]},
            {},
            "expression 'claims.hd == 'example.com'' resulted in error: no such key: hd",
        ),
        (
            {"userValidationRules": [{"expression": "!user.username.startsWith('one:system')", "message": "reserved"}]},
            {"sub": "system:admin"},
            (
                "error evaluating user info validation rule: "
                "validation expression '!user.username.startsWith('one:system')' failed: reserved"
            ),
        ),
        (
            {"claimMappings": {"username": {"expression": "claims.level"}}},
            {"level": 3},
            "username claim expression must return a string",
        ),
        (
            {"claimMappings": {"username": {"claim": "sub", "prefix": ""}, "groups": {"expression": "claims.roles"}}},
            {"roles": [1]},
            "expression must return a string or a list of strings",
        ),
        (
            {"claimMappings": {"username": {"claim": "sub", "prefix": ""}, "uid": {"claim": "oid"}}},
            {},
            'parse uid claim "oid"',
        ),
    ],
    ids=["claims", "no such claim", "user", "user name", "groups", "uid"],
)
def test_what_does_not_hold_is_refused_and_the_log_says_why(build, peer, issuer, rules, claims, logged, caplog):
    built = build(row(peer, issuer, **rules))

    with caplog.at_level(logging.INFO), pytest.raises(Unauthorized):
        ask(built, issuer.token(**claims))

    assert logged in caplog.text


def test_what_holds_passes(build, peer, issuer):
    rules = {
        "claimValidationRules": [
            {"expression": "claims.exp - claims.iat <= 3600"},
            {"claim": "hd", "requiredValue": "x"},
        ],
        "userValidationRules": [{"expression": "user.groups.all(g, g != 'system:masters') && user.uid == ''"}],
    }

    assert ask(build(row(peer, issuer, **rules)), issuer.token(hd="x")).user.name == "one:alice"


def written(peer, issuer, /, **changed):
    table = row(peer, issuer)
    table["issuer"] = {**table["issuer"], **changed.pop("issuer", {})}
    return {**table, **changed}


def mappings(**changed):
    return {"claimMappings": {"username": {"claim": "sub", "prefix": ""}, **changed}}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"userValidationRules": [{"expression": "user.nme == ''"}]},
            (
                "jwt[0].userValidationRules[0].expression: Invalid value: \"user.nme == ''\": compilation failed: "
                "ERROR: <input>:1:5: undefined field 'nme'"
            ),
        ),
        (
            {"userValidationRules": [{"expression": "user.username"}]},
            'jwt[0].userValidationRules[0].expression: Invalid value: "user.username": must evaluate to bool',
        ),
        (
            {"claimValidationRules": [{"expression": "true"}, {"expression": "true"}]},
            'jwt[0].claimValidationRules[1].expression: Duplicate value: "true"',
        ),
        (
            {"claimValidationRules": [{"claim": "a", "expression": "true"}]},
            'jwt[0].claimValidationRules[0]: Invalid value: "a": claim and expression can\'t both be set',
        ),
        (
            {"claimValidationRules": [{}]},
            "jwt[0].claimValidationRules[0]: Required value: claim or expression is required",
        ),
        (
            {"claimValidationRules": [{"claim": "a", "message": "m"}]},
            'jwt[0].claimValidationRules[0].message: Invalid value: "m": may not be specified when claim is set',
        ),
        (
            mappings(username={"expression": "claims.sub", "prefix": "x"}),
            'jwt[0].claimMappings.username.prefix: Invalid value: "x": may not be specified when expression is set',
        ),
        (
            mappings(username={"expression": "claims.email"}),
            'jwt[0].claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must be used',
        ),
        (
            mappings(extra=[{"key": "kubernetes.io/x", "valueExpression": "''"}]),
            (
                'jwt[0].claimMappings.extra[0].key: Invalid value: "kubernetes.io/x": '
                "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"
            ),
        ),
        (
            mappings(extra=[{"key": "example.org/X", "valueExpression": "''"}]),
            'jwt[0].claimMappings.extra[0].key: Invalid value: "example.org/X": must be lowercase',
        ),
        (
            mappings(extra=[{"key": "example.org/x"}]),
            "jwt[0].claimMappings.extra[0].valueExpression: Required value",
        ),
        ({"issuer": {"url": "http://x"}}, 'jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https'),
        (
            {"issuer": {"url": "https://sa"}},
            'jwt[0].issuer.url: Invalid value: "https://sa": URL must not overlap with disallowed issuers: [https://sa]',
        ),
        (
            {"issuer": {"audiences": ["a", "b"]}},
            'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
        ),
        (
            {"issuer": {"certificateAuthority": "x"}},
            (
                'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": '
                "data does not contain any valid RSA or ECDSA certificates"
            ),
        ),
    ],
)
def test_what_is_wrong_is_said_in_kubernetes_words(file, peer, issuer, changed, message):
    file.write(written(peer, issuer, **changed))

    with pytest.raises(UsageError) as refusal:
        from_file(str(file.path), ["https://sa"])

    assert str(refusal.value).startswith(message)


@pytest.mark.parametrize(
    "rest",
    [
        mappings(username={"expression": "claims.email_verified ? claims.email : claims.sub"}),
        {**mappings(username={"expression": "claims.?email.orValue('')"}),
         "claimValidationRules": [{"expression": "claims.?email_verified.orValue(true) == true"}]},
        mappings(username={"expression": "claims.email"},
                 extra=[{"key": "a.org/b", "valueExpression": "string(has(claims.email_verified))"}]),
        mappings(username={"claim": "email", "prefix": ""}),
    ],
    ids=["in the name", "in a rule", "in an extra", "as a claim"],
)  # fmt: skip
def test_an_email_address_may_be_used_where_its_verification_is(file, peer, issuer, rest):
    file.write(written(peer, issuer, **rest))

    assert len(from_file(str(file.path))) == 1


def test_all_that_is_wrong_is_said_at_once(file, peer, issuer):
    file.write(written(peer, issuer, userValidationRules=[{}]), written(peer, issuer))

    with pytest.raises(UsageError) as refusal:
        from_file(str(file.path))

    assert str(refusal.value) == (
        "[jwt[0].userValidationRules[0].expression: Required value, "
        f'jwt[1].issuer.url: Duplicate value: "{issuer.url}"]'
    )


def test_a_changed_file_is_taken_up_and_a_wrong_one_is_not(build, file, peer, issuer, clock, caplog):
    built = build(row(peer, issuer))
    assert ask(built, issuer.token()).user.name == "one:alice"
    other = OpenIdIssuer(peer, "/two", clock)

    file.write(row(peer, issuer, **mappings(username={"expression": "'new:' + claims.sub"})), row(peer, other))

    assert ask(built, issuer.token()).user.name == "new:alice"
    assert ask(built, other.token()).user.name == "one:alice"
    assert issuer.fetches() == 1

    with caplog.at_level(logging.WARNING):
        file.write(row(peer, issuer, claimMappings={}))
        assert ask(built, issuer.token()).user.name == "new:alice"
    assert "keeping the issuers there were: jwt[0].claimMappings.username: Required value" in caplog.text

    file.write()
    assert ask(built, issuer.token()) is None


def test_no_issuer_is_a_file_too(build, file, peer, issuer):
    built = build()
    assert ask(built, issuer.token()) is None

    file.write(row(peer, issuer))

    assert ask(built, issuer.token()).user.name == "one:alice"
