"""Groups that a token only points to."""

import pytest
from hyperkube_authn.oidc import OIDC
from hyperkube_testing.peers.openid_issuer import OpenIdIssuer, signing_key
from hyperkube_testing.peers.peer import Failure

from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.errors import Unauthorized
from hyperkube.plugin import PluginContext


@pytest.fixture
def built(peer, issuer, clock):
    options = {
        "oidc_issuer_url": issuer.url,
        "oidc_client_id": "kube",
        "oidc_ca_file": str(peer.ca_file),
        "oidc_groups_claim": "groups",
        "oidc_groups_prefix": "g:",
    }
    return OIDC(PluginContext(name="OIDC", settings=options, clock=clock))


def serve(peer, token):
    peer.answers["/claims"] = lambda _: Failure(200, token.encode())


def pointing(peer, path="/claims", **more):
    source = {"endpoint": peer.url + path, "access_token": "open sesame", **more}
    return {"_claim_names": {"groups": "src"}, "_claim_sources": {"src": source}}


def ask(built, token):
    return built.authn_authenticate(Credentials(token=token)).user


def refusal(built, token, caplog):
    with pytest.raises(Unauthorized), caplog.at_level("INFO"):
        ask(built, token)
    return caplog.records[-1].getMessage().removeprefix("a token was refused: oidc: ")


def test_groups_are_fetched_with_the_access_token(built, peer, issuer):
    serve(peer, issuer.token(sub=None, groups=["a", "b"]))

    user = ask(built, issuer.token(**pointing(peer)))

    assert user.groups == ("g:a", "g:b")
    assert ("/claims", None) in peer.asked
    assert peer.credentials[[path for path, _ in peer.asked].index("/claims")] == "Bearer open sesame"


def test_their_token_may_be_of_another_issuer(built, peer, issuer, clock):
    serve(peer, OpenIdIssuer(peer, "/two", clock).token(groups=["a"]))

    assert ask(built, issuer.token(**pointing(peer))).groups == ("g:a",)


def test_groups_in_the_token_itself_count(built, peer, issuer):
    assert ask(built, issuer.token(groups=["own"], **pointing(peer))).groups == ("g:own",)
    assert ("/claims", None) not in peer.asked


@pytest.mark.parametrize(
    "claims",
    [{"_claim_names": {"other": "src"}, "_claim_sources": {"src": {"endpoint": "https://x"}}},
     {"_claim_names": {"groups": "src"}, "_claim_sources": {"src": {"JWT": "a.b.c"}}}],
    ids=["another claim's", "aggregated"],
)  # fmt: skip
def test_what_points_nowhere_gives_no_groups(built, issuer, claims):
    assert ask(built, issuer.token(**claims)).groups == ()


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"_claim_names": {"groups": "src"}}, "no claim sources"),
        (
            {"_claim_names": {"groups": "none"}, "_claim_sources": {}},
            "id token _claim_names contained a source none missing in _claims_sources",
        ),
        ({"_claim_names": "groups"}, "error parsing distributed claim names: no object"),
        ({"_claim_names": {"groups": "src"}, "_claim_sources": []}, "could not parse claim sources: no objects"),
        (
            {"_claim_names": {"groups": "src"}, "_claim_sources": {"src": {"endpoint": "http://x/y"}}},
            "while getting distributed claim \"groups\": 'http://x/y' is no https URL",
        ),
    ],
)
def test_a_pointer_that_is_broken_is_refused(built, issuer, caplog, claims, message):
    said = refusal(built, issuer.token(**claims), caplog)

    assert said == f"could not expand distributed claims: {message}"


def test_a_source_that_does_not_answer_is_named(built, peer, issuer, caplog):
    said = refusal(built, issuer.token(**pointing(peer, "/missing")), caplog)

    assert said == (
        'could not expand distributed claims: while getting distributed claim "groups": '
        "error while getting distributed claim JWT: 404"
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"groups": None}, "did not contain claim: groups"),
        ({"groups": ["a"], "aud": "other"}, "expected audience in ['kube'] got ['other']"),
        ({"groups": ["a"], "exp": 1}, "token is expired"),
        ({"groups": ["a"], "key": signing_key("other", "RS256")}, "failed to verify signature"),
        ({"groups": ["a"], "iss": None}, "could not find issuer"),
    ],
    ids=["without the claim", "for others", "expired", "forged", "from nobody"],
)
def test_an_answer_is_believed_as_little_as_any_token(built, peer, issuer, caplog, answer, message):
    serve(peer, issuer.token(**answer))

    said = refusal(built, issuer.token(**pointing(peer)), caplog)

    assert said.startswith("could not expand distributed claims: ")
    assert said.endswith(message)
