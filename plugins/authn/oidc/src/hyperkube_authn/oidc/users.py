"""From the claims of a genuine token to a user: what must be there, what is read off it, what must hold.

Source: kubernetes apiserver ``plugin/pkg/authenticator/token/oidc/oidc.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube_authn.oidc.configuration import Issuer, Mapped, Rule

from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.users import UserInfo

Claims = Mapping[str, Any]

_NOT_BEFORE_LEEWAY_SECONDS = 300.0


class ClaimRefused(HyperkubeError):
    """A genuine token says too little, or something else than it must; the text is for the log, not for the client."""


def check_claims(issuer: Issuer, claims: Claims, now: float) -> None:
    """Insist that a genuine token is meant for us and current.

    Raises:
        ClaimRefused: it is not.
    """
    meant_for = claims.get("aud")
    audiences = [meant_for] if isinstance(meant_for, str) else list(meant_for or ())
    if not set(audiences) & set(issuer.audiences):
        raise ClaimRefused(f"expected audience in {sorted(issuer.audiences)} got {audiences}")
    expires, begins = claims.get("exp"), claims.get("nbf", 0)
    if not isinstance(expires, int | float) or not isinstance(begins, int | float):
        raise ClaimRefused("claims exp and nbf must be numbers")
    if now > expires:
        raise ClaimRefused("token is expired")
    if now + _NOT_BEFORE_LEEWAY_SECONDS < begins:
        raise ClaimRefused("current time is before the nbf (not before) time")


def user_of(issuer: Issuer, claims: Claims) -> UserInfo:
    """Return the user whom the claims name, once all rules hold.

    Raises:
        ClaimRefused: a claim is missing or of another kind, an expression has no value, or a rule does not hold.
    """
    user = UserInfo(_username(issuer, claims), _uid(issuer, claims), _groups(issuer, claims), _extra(issuer, claims))
    for claim, value in issuer.required.items():
        if claim not in claims:
            raise ClaimRefused(f"required claim {claim} not present in ID token")
        if claims[claim] != value:
            got = claims[claim]
            raise ClaimRefused(f"required claim {claim} value does not match. Got = {got}, want = {value}")
    if issuer.claim_rules:
        _check(issuer.claim_rules, "claims", claims, "error evaluating claim validation expression")
    if issuer.user_rules:
        from hyperkube_authn.oidc.expressions import shown

        _check(issuer.user_rules, "user", shown(user), "error evaluating user info validation rule")
    return user


def _check(rules: Sequence[Rule], name: str, value: Mapping[str, Any], what: str) -> None:
    from hyperkube_authn.oidc.expressions import EvaluationError, holds

    for rule in rules:
        try:
            held = holds(rule.program, name, value)
        except EvaluationError as error:
            raise ClaimRefused(f"{what}: expression '{rule.program.source}' resulted in error: {error}") from error
        if not held:
            raise ClaimRefused(f"{what}: validation expression '{rule.program.source}' failed: {rule.message}")


def _username(issuer: Issuer, claims: Claims) -> str:
    mapped = issuer.username
    if not isinstance(mapped, Mapped):
        name = _value(mapped, claims, "username")
        if not isinstance(name, str) or not name:
            raise ClaimRefused(
                "error evaluating username claim expression: username claim expression must return a string"
            )
        return name
    name = claims.get(mapped.claim)
    if not isinstance(name, str) or not name:
        raise ClaimRefused(f'parse username claims "{mapped.claim}": claim not present, empty or no string')
    if mapped.claim == "email" and claims.get("email_verified", True) is not True:
        raise ClaimRefused("email not verified")
    return mapped.prefix + name


def _uid(issuer: Issuer, claims: Claims) -> str:
    if not isinstance(issuer.uid, str):
        uid = _value(issuer.uid, claims, "uid")
        if not isinstance(uid, str):
            raise ClaimRefused("error evaluating uid claim expression: uid claim expression must return a string")
        return uid
    if not issuer.uid:
        return ""
    uid = claims.get(issuer.uid)
    if not isinstance(uid, str):
        raise ClaimRefused(f'parse uid claim "{issuer.uid}": claim not present or no string')
    return uid


def _groups(issuer: Issuer, claims: Claims) -> tuple[str, ...]:
    mapped = issuer.groups
    if mapped is None:
        return ()
    if not isinstance(mapped, Mapped):
        return _texts(mapped, claims, "group")
    if mapped.claim not in claims:
        return ()
    value = claims[mapped.claim]
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(group, str) for group in values):
        raise ClaimRefused(f'parse groups claim "{mapped.claim}": neither a string nor a list of strings')
    return tuple(mapped.prefix + group for group in values)


def _extra(issuer: Issuer, claims: Claims) -> dict[str, tuple[str, ...]]:
    found = ((key, _texts(program, claims, "extra")) for key, program in issuer.extra)
    return {key: values for key, values in found if values}


def _texts(program: Any, claims: Claims, what: str) -> tuple[str, ...]:
    from hyperkube_authn.oidc.expressions import EvaluationError, texts

    try:
        return texts(_value(program, claims, what))
    except EvaluationError as error:
        raise ClaimRefused(f"error evaluating {what} claim expression: {error}") from error


def _value(program: Any, claims: Claims, what: str) -> Any:
    from hyperkube_authn.oidc.expressions import EvaluationError

    try:
        return program.evaluate({"claims": claims})
    except EvaluationError as error:
        text = f"expression '{program.source}' resulted in error: {error}"
        raise ClaimRefused(f"error evaluating {what} claim expression: {text}") from error
