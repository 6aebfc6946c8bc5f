"""ServiceAccount: tokens that the cluster itself gave to its workloads.

A bound token is good while its account and the pod, secret or node it names exist; a legacy one while its secret holds
it. A token of another issuer is left to other authenticators.
Source: kubernetes ``pkg/serviceaccount`` (jwt.go, claims.go, legacy.go).
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hyperkube_lib.service_account_tokens import (
    ALGORITHMS,
    INVALID_SINCE,
    LAST_USED,
    LEGACY_ISSUER,
    LEGACY_PREFIX,
    PRIVATE_CLAIM,
    algorithm_of,
    key_id,
    load_public_keys,
)

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.kinds.resources import NODES, PODS, SECRETS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import ApiError, NotFound, Unauthorized
from hyperkube.machinery.field import quote
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, labels_of, metadata, name_of, namespace_of, uid_of
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import parse_time
from hyperkube.machinery.users import SERVICE_ACCOUNT_PREFIX, UserInfo, service_account
from hyperkube.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

_BASE64 = re.compile("[A-Za-z0-9_-]*", re.ASCII)
_CACHE_SECONDS = 10.0
_CLAIMED = {
    SERVICE_ACCOUNTS: "service account UID ({actual}) does not match claim",
    SECRETS: "secret UID ({actual}) does not match service account secret ref claim",
    PODS: "pod UID ({actual}) does not match service account pod ref claim",
    NODES: "node UID ({actual}) does not match service account node ref claim",
}
_GRACE = timedelta(seconds=60)
"""A token lives on for so long after the deletion of what it is bound to was due."""
_EXTRA = "authentication.kubernetes.io/"


class Settings(Record):
    """The keys that verify tokens, who may have issued them and for whom, and whether accounts are looked up."""

    service_account_key_file: tuple[str, ...] = ()
    service_account_issuer: tuple[str, ...] = ()
    api_audiences: tuple[str, ...] = ()
    service_account_lookup: bool = True


def _canonical(token: str) -> str:
    """Return a token whose signature has no bits beyond its last byte.

    Go drops them, the library here takes the whole token for none: what is wrong with it is the signature alone.
    """
    rest, _, signature = token.rpartition(".")
    if not _BASE64.fullmatch(signature) or len(signature) % 4 == 1:
        return token
    read = urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
    return f"{rest}.{urlsafe_b64encode(read).decode().rstrip('=')}"


def _go_list(texts: Iterable[str]) -> str:
    return f"[{' '.join(map(quote, texts))}]"


class ServiceAccount(Plugin):
    """Names the service account of a token that ``--service-account-key-file`` verifies."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = self.settings(Settings)
        self._issuers = frozenset(settings.service_account_issuer)
        self._audiences = frozenset(settings.api_audiences) or self._issuers
        self._lookup = settings.service_account_lookup
        self._files = settings.service_account_key_file
        self._keys: dict[str, PublicKeyTypes] | None = None

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Check signature, times and audience, then that all that the token names is still there."""
        token = credentials.token
        if token.count(".") != 2 or not self._files:
            return None
        readable = _canonical(token)
        issuer, header = self._read_unverified(readable)
        if issuer != LEGACY_ISSUER and issuer not in self._issuers:
            return None
        claims = self._verified(readable, header, checks_times=issuer != LEGACY_ISSUER)
        if issuer == LEGACY_ISSUER:
            return Authenticated(self._legacy_user(token, claims), (), _CACHE_SECONDS)
        audiences = self._common_audiences(claims.get("aud"), credentials.audiences)
        return Authenticated(self._bound_user(claims), audiences, _CACHE_SECONDS)

    def _read_unverified(self, token: str) -> tuple[str, Mapping[str, Any]]:
        """Return issuer and header of what may be a token of ours; nothing of it is believed yet."""
        import jwt

        try:
            decoded = jwt.decode_complete(token, options={"verify_signature": False})
        except jwt.InvalidTokenError:
            return "", {}
        return str(decoded["payload"].get("iss", "")), decoded["header"]

    def _candidates(self, header: Mapping[str, Any]) -> Iterable[PublicKeyTypes]:
        """Return the key that the header names, or all of them."""
        if self._keys is None:
            self._keys = {key_id(key): key for path in self._files for key in load_public_keys(path)}
        named = self._keys.get(str(header.get("kid", "")))
        return [named] if named is not None else self._keys.values()

    def _verified(self, token: str, header: Mapping[str, Any], *, checks_times: bool) -> dict[str, Any]:
        import jwt

        if header.get("alg") not in ALGORITHMS:
            raise Unauthorized
        for key in self._candidates(header):
            options: Any = {"verify_aud": False, "verify_exp": False, "verify_nbf": False, "verify_iat": False}
            try:
                claims: dict[str, Any] = jwt.decode(token, key, [algorithm_of(key)], options=options)  # type: ignore[arg-type]  # algorithm_of checked the kind
            except jwt.InvalidTokenError:
                continue
            if checks_times:
                self._check_times(claims)
            return claims
        raise Unauthorized("go-jose/go-jose: error in cryptographic primitive")

    def _check_times(self, claims: Mapping[str, Any]) -> None:
        now = self.context.clock.now().timestamp()
        expires, begins = claims.get("exp"), claims.get("nbf", 0)
        if not isinstance(expires, int | float) or now > expires:
            raise Unauthorized("service account token has expired")
        if now < begins:
            raise Unauthorized("service account token is not valid yet")

    def _common_audiences(self, meant_for: Any, wanted: Iterable[str]) -> tuple[str, ...]:
        """Return the audiences of the token among those that were asked for, the server's own by default."""
        audiences = [meant_for] if isinstance(meant_for, str) else list(meant_for or ())
        accepted = frozenset(wanted) or self._audiences
        common = tuple(audience for audience in audiences if audience in accepted)
        if not common:
            given, targets = (_go_list(listed) for listed in (audiences, wanted or sorted(self._audiences)))
            raise Unauthorized(f"token audiences {given} is invalid for the target audiences {targets}")
        return common

    def _find(self, resource: GroupVersionResource, namespace: str, name: str) -> Object | None:
        """Return an object from a cache that exists anyway, or else from the server."""
        informer = self.informers.find(resource) if self.context.informers is not None else None
        found = informer.get(namespace, name) if informer is not None else None
        if found is not None:
            return found
        try:
            return self.client.get(resource, name, namespace)
        except NotFound:
            return None
        except ApiError as error:
            raise Unauthorized from error

    def _living(self, resource: GroupVersionResource, namespace: str, name: str, uid: str) -> Object:
        """Return the object if it is still the one that is meant.

        Raises:
            Unauthorized: it is gone, was replaced, or is past its deletion.
        """
        found = self._find(resource, namespace, name)
        if found is None or self._is_past(found):
            raise Unauthorized("service account token has been invalidated")
        if uid and uid_of(found) != uid:
            raise Unauthorized(f"{_CLAIMED[resource].format(actual=uid_of(found))} ({uid})")
        return found

    def _is_past(self, obj: Object) -> bool:
        deleted = str(metadata(obj).get("deletionTimestamp") or "")
        return bool(deleted) and self.context.clock.now() > parse_time(deleted) + _GRACE

    def _bound_user(self, claims: Mapping[str, Any]) -> UserInfo:
        private = claims.get(PRIVATE_CLAIM)
        if not isinstance(private, dict) or not private.get("namespace") or not private.get("serviceaccount"):
            raise Unauthorized
        namespace, account = str(private["namespace"]), private["serviceaccount"]
        if claims.get("sub") != f"{SERVICE_ACCOUNT_PREFIX}{namespace}:{account.get('name', '')}":
            raise Unauthorized
        extra: dict[str, tuple[str, ...]] = {}
        if claims.get("jti"):
            extra[_EXTRA + "credential-id"] = (f"JTI={claims['jti']}",)
        if self._lookup:
            self._living(SERVICE_ACCOUNTS, namespace, account.get("name", ""), account.get("uid", ""))
        for kind, resource, home in (("secret", SECRETS, namespace), ("pod", PODS, namespace), ("node", NODES, "")):
            named = private.get(kind)
            if not named:
                continue
            if self._lookup and not (kind == "node" and private.get("pod")):
                self._living(resource, home, named.get("name", ""), named.get("uid", ""))
            if kind != "secret":
                extra[f"{_EXTRA}{kind}-name"] = (named.get("name", ""),)
                if named.get("uid"):
                    extra[f"{_EXTRA}{kind}-uid"] = (named["uid"],)
        user = service_account(namespace, account.get("name", ""), account.get("uid", ""))
        return UserInfo(user.name, user.uid, user.groups, extra)

    def _legacy_user(self, token: str, claims: Mapping[str, Any]) -> UserInfo:
        namespace, secret_name, name, uid = (
            str(claims.get(LEGACY_PREFIX + claim, ""))
            for claim in ("namespace", "secret.name", "service-account.name", "service-account.uid")
        )
        if not all((namespace, secret_name, name, uid)):
            raise Unauthorized
        if claims.get("sub") != f"{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}":
            raise Unauthorized
        if self._lookup:
            account = self._find(SERVICE_ACCOUNTS, namespace, name)
            secret = self._find(SECRETS, namespace, secret_name)
            if account is None or secret is None or uid_of(account) != uid or self._is_past(account):
                raise Unauthorized
            held = b64decode((secret.get("data") or {}).get("token", ""))
            if metadata(secret).get("deletionTimestamp") or not hmac.compare_digest(held, token.encode()):
                raise Unauthorized
            self._track(secret)
        return service_account(namespace, name, uid)

    def _track(self, secret: Object) -> None:
        """Write down in the secret that its token is used today.

        Raises:
            Unauthorized: it bears the label of tokens that are not good any more.
        """
        labels, where = labels_of(secret), f"{namespace_of(secret)}/{name_of(secret)}"
        if labels.get(INVALID_SINCE):
            self.context.logger.warning(
                "the token in secret %s has been marked invalid. Use tokens from the TokenRequest API or manually"
                " created secret-based tokens, or remove the %r label from the secret to temporarily allow use of"
                " this token",
                where,
                INVALID_SINCE,
            )
            raise Unauthorized
        now = self.context.clock.now()
        today, tomorrow = (f"{day:%Y-%m-%d}" for day in (now, now + timedelta(days=1)))
        if labels.get(LAST_USED) in {today, tomorrow}:  # another server's clock may be ahead
            return
        patch = {"metadata": {"uid": uid_of(secret), "labels": {LAST_USED: today}}}
        try:
            self.client.patch(SECRETS, name_of(secret), patch, namespace_of(secret))
        except ApiError as error:
            self.context.logger.warning("cannot note the use of the token in secret %s: %s", where, error)
