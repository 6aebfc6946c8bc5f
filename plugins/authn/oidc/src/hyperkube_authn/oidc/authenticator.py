"""OIDC: who an OpenID issuer says it is.

The token must be signed by a key that the issuer publishes, be meant for us and be current; its claims then name the
user and the groups. A token of an issuer that is not configured is somebody else's to judge.
Source: kubernetes apiserver ``plugin/pkg/authenticator/token/oidc/oidc.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_authn.oidc.configuration import Issuer, Mapped, issuers_of
from hyperkube_authn.oidc.keys import IssuerUnavailable, KeySet

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import Unauthorized
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin, PluginContext

Claims = Mapping[str, Any]

_CACHE_SECONDS = 10.0
_NOT_BEFORE_LEEWAY_SECONDS = 300.0
_CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"


class ClaimRefused(Unauthorized):
    """A token is genuine, but says too little or something else than it must."""


class OIDC(Plugin):
    """Names the user of an ID token."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._issuers = {
            issuer.url: (issuer, KeySet(issuer.url, issuer.discovery_url, issuer.ca, context.clock))
            for issuer in issuers_of(context.options)
        }
        own = context.options.get("api-audiences") or context.options.get("service-account-issuer") or ()
        self._audiences = frozenset(own.split(",") if isinstance(own, str) else own)

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Find the issuer, check the signature, then the claims."""
        import jwt

        token = credentials.token
        if token.count(".") != 2 or not self._issuers:
            return None
        try:
            decoded = jwt.decode_complete(token, options={"verify_signature": False})
        except jwt.InvalidTokenError:
            return None
        issuer, keys = self._issuers.get(str(decoded["payload"].get("iss", "")), (None, None))
        if issuer is None or keys is None:
            return None
        claims = self._verified(issuer, keys, token, decoded["header"])
        now = self.context.clock.now().timestamp()
        check_claims(issuer, claims, now)
        if credentials.audiences and not set(credentials.audiences) <= self._audiences:
            return None
        left = float(claims["exp"]) - now
        return Authenticated(user_of(issuer, claims), credentials.audiences, min(_CACHE_SECONDS, left))

    def _verified(self, issuer: Issuer, keys: KeySet, token: str, header: Mapping[str, Any]) -> Claims:
        import jwt

        algorithm = header.get("alg")
        if algorithm not in issuer.algorithms:
            raise Unauthorized
        unchecked: Any = {
            "verify_aud": False, "verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_sub": False,
            "verify_jti": False,
        }  # fmt: skip
        try:
            candidates = keys.candidates(str(header.get("kid") or ""))
        except IssuerUnavailable as error:
            self.context.logger.warning("%s", error)
            raise Unauthorized from error
        for key in candidates:
            if not _fits(key.key_type or "", algorithm):
                continue
            try:
                claims: Claims = jwt.decode(token, key.key, [algorithm], options=unchecked)
            except (jwt.InvalidTokenError, TypeError, ValueError):
                continue
            return claims
        raise Unauthorized


def _fits(key_type: str, algorithm: str) -> bool:
    return key_type == ("EC" if algorithm.startswith("ES") else "RSA")


def check_claims(issuer: Issuer, claims: Claims, now: float) -> None:
    """Insist that a genuine token is meant for us, current, and has the required claims.

    Raises:
        ClaimRefused: it is not.
    """
    meant_for = claims.get("aud")
    audiences = [meant_for] if isinstance(meant_for, str) else list(meant_for or ())
    if not set(audiences) & set(issuer.audiences):
        raise ClaimRefused
    expires, begins = claims.get("exp"), claims.get("nbf", 0)
    if not isinstance(expires, int | float) or not isinstance(begins, int | float):
        raise ClaimRefused
    if now > expires or now + _NOT_BEFORE_LEEWAY_SECONDS < begins:
        raise ClaimRefused
    for claim, value in issuer.required.items():
        if claims.get(claim) != value:
            raise ClaimRefused


def user_of(issuer: Issuer, claims: Claims) -> UserInfo:
    """Return the user whom the claims name.

    Raises:
        ClaimRefused: a claim is missing or of another kind, or the e-mail address is not verified.
    """
    name = claims.get(issuer.username.claim)
    if not isinstance(name, str) or not name:
        raise ClaimRefused
    if issuer.username.claim == "email" and claims.get("email_verified", True) is not True:
        raise ClaimRefused
    uid = claims.get(issuer.uid, "") if issuer.uid else ""
    if not isinstance(uid, str):
        raise ClaimRefused
    extra = {_CREDENTIAL_ID: (f"JTI={claims['jti']}",)} if isinstance(claims.get("jti"), str) else {}
    return UserInfo(issuer.username.prefix + name, uid, _groups(issuer.groups, claims), extra)


def _groups(mapped: Mapped | None, claims: Claims) -> tuple[str, ...]:
    if mapped is None or mapped.claim not in claims:
        return ()
    value = claims[mapped.claim]
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(group, str) for group in values):
        raise ClaimRefused
    return tuple(mapped.prefix + group for group in values)
