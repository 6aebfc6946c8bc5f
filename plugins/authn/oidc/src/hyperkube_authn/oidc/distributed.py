"""Claims that a token only points to: fetched where the token says they are, and believed if they are signed as well.

An issuer with users in very many groups leaves them out of the token: ``_claim_names`` says which source has a claim,
``_claim_sources`` where the source is and which access token opens it. What comes back is another token, for the same
audience, whose own issuer publishes the key that it is signed with. Only the claim that names the groups is looked up.

Sources: OpenID Connect Core 1.0, 5.6.2; kubernetes apiserver ``plugin/pkg/authenticator/token/oidc/oidc.go``
(claimResolver), whose errors these are. Other than there, sources must be https.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from hyperkube_authn.oidc.configuration import Issuer, Mapped
from hyperkube_authn.oidc.fetch import NoHttpsUrl, fetch
from hyperkube_authn.oidc.keys import KeySet
from hyperkube_authn.oidc.users import ClaimRefused, Claims, check_claims

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import HyperkubeError, Unauthorized

NAMES, SOURCES = "_claim_names", "_claim_sources"
_REMEMBERED = 100
_SAFE = "could not expand distributed claims"

Verify = Callable[[Issuer, KeySet, str], Claims]
"""Returns the claims of a token that is signed by one of the keys; raises Unauthorized for another."""


class DistributedClaims:
    """Looks claims up.

    Args:
        verify: checks the signature of a token that a source answered.
        clock: for the keys of sources' issuers.
        egress: what dials, by network; sources are in that of the issuer.
    """

    def __init__(self, verify: Verify, clock: Clock, egress: Mapping[str, Dial]) -> None:
        self._verify = verify
        self._clock = clock
        self._egress = egress
        self._lock = threading.Lock()
        self._keys: dict[tuple[str, str, str], KeySet] = {}

    def expanded(self, issuer: Issuer, claims: Claims) -> Claims:
        """Return a token's claims with the one that names the groups, if it is found elsewhere.

        Raises:
            ClaimRefused: the claim cannot be had, or not be believed.
        """
        claim = issuer.groups.claim if isinstance(issuer.groups, Mapped) else ""
        if not claim or claim in claims or NAMES not in claims:
            return claims
        try:
            source = _source_of(claim, claims)
            return claims if source is None else {**claims, claim: self._resolved(issuer, claim, *source)}
        except ClaimRefused as refusal:
            raise ClaimRefused(f"{_SAFE}: {refusal}") from refusal

    def _resolved(self, issuer: Issuer, claim: str, url: str, access_token: str) -> Any:
        token = self._fetched(issuer, claim, url, access_token)
        origin = _untrusted_issuer(token)
        if not origin:
            text = "could not find issuer"
            raise ClaimRefused(f"getting untrusted issuer from endpoint {url} failed for claim {claim!r}: {text}")
        try:
            found = self._verify(issuer, self._keys_of(origin, issuer), token)
        except Unauthorized as error:
            raise ClaimRefused("verify distributed claim token: failed to verify signature") from error
        check_claims(issuer, found, self._clock.now().timestamp())
        if claim not in found:
            raise ClaimRefused(f'jwt returned by distributed claim endpoint "{url}" did not contain claim: {claim}')
        return found[claim]

    def _keys_of(self, origin: str, issuer: Issuer) -> KeySet:
        place = origin, issuer.ca, issuer.egress
        with self._lock:
            keys = self._keys.get(place)
            if keys is None:
                if len(self._keys) >= _REMEMBERED:
                    self._keys.clear()
                keys = self._keys[place] = KeySet(origin, "", issuer.ca, self._clock, self._egress.get(issuer.egress))
            return keys

    def _fetched(self, issuer: Issuer, claim: str, url: str, access_token: str) -> str:
        what = f'while getting distributed claim "{claim}"'
        try:
            answer = fetch(url, issuer.ca, self._clock, token=access_token, dial=self._egress.get(issuer.egress))
        except NoHttpsUrl as error:
            raise ClaimRefused(f"{what}: {url!r} is {error}") from error
        except (OSError, HyperkubeError) as error:
            raise ClaimRefused(f'{what}: Get "{url}": {error}') from error
        if not 200 <= answer.status < 300:
            raise ClaimRefused(f"{what}: error while getting distributed claim JWT: {answer.status}")
        return answer.body.decode("ascii", "replace").strip()


def _source_of(claim: str, claims: Claims) -> tuple[str, str] | None:
    """Return where a claim is and the access token for it, None when it is nowhere or comes along with the token."""
    names, sources = claims[NAMES], claims.get(SOURCES)
    if not isinstance(names, Mapping):
        raise ClaimRefused("error parsing distributed claim names: no object")
    if sources is None:
        raise ClaimRefused("no claim sources")
    if not isinstance(sources, Mapping) or not all(isinstance(one, Mapping) for one in sources.values()):
        raise ClaimRefused("could not parse claim sources: no objects")
    name = names.get(claim)
    if name is None:
        return None
    if name not in sources:
        raise ClaimRefused(f"id token _claim_names contained a source {name} missing in _claims_sources")
    url = sources[name].get("endpoint") or ""
    return (str(url), str(sources[name].get("access_token") or "")) if url else None


def _untrusted_issuer(token: str) -> str:
    """Return whom a token says it is from, before anything of it is believed; empty for what is no token."""
    import jwt

    try:
        claims = jwt.decode(token, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return ""
    return str(claims.get("iss") or "")
