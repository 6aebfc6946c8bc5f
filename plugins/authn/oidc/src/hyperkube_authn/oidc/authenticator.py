"""OIDC: who an OpenID issuer says it is.

The token must be signed by a key that the issuer publishes, be meant for us and be current; its claims then name the
user and the groups. A token of an issuer that is not configured is left to other authenticators. The file of
``--authentication-config`` is looked at again when it changes; a file that is wrong leaves the issuers as they were.
Source: kubernetes apiserver ``plugin/pkg/authenticator/token/oidc/oidc.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperkube_authn.oidc.configuration import Issuer, Settings, from_flags
from hyperkube_authn.oidc.distributed import DistributedClaims
from hyperkube_authn.oidc.file import EGRESS_GATE, from_file
from hyperkube_authn.oidc.keys import IssuerUnavailable, KeySet
from hyperkube_authn.oidc.users import ClaimRefused, check_claims, user_of

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import Unauthorized, UsageError
from hyperkube.plugin import Plugin, PluginContext

_CACHE_SECONDS = 10.0
Known = Mapping[str, tuple[Issuer, KeySet]]
"""Issuers and their keys by URL."""


class OIDC(Plugin):
    """Names the user of an ID token."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = self.settings(Settings)
        self._path = settings.authentication_config
        if self._path and settings.oidc_issuer_url:
            raise UsageError("authentication-config file and oidc-* flags are mutually exclusive")
        self._service_accounts = settings.service_account_issuer
        self._lock = threading.Lock()
        self._stamp = self._read_stamp()
        self._issuers: Known = {}
        if self._path:
            self._issuers = self._with_keys(self._from_file())
        elif settings.oidc_issuer_url:
            self._issuers = self._with_keys([from_flags(settings)])
        own = settings.api_audiences or self._service_accounts
        self._audiences = frozenset(own)
        self._distributed = DistributedClaims(self._signed, context.clock, context.egress)

    def _from_file(self) -> list[Issuer]:
        selects_egress = self.context.gates.get(EGRESS_GATE, True)
        return from_file(self._path, self._service_accounts, selects_egress=selects_egress)

    def _with_keys(self, issuers: list[Issuer]) -> Known:
        """Return issuers with their keys; an issuer that is where it was keeps those it has."""
        found = {}
        for issuer in issuers:
            before, keys = self._issuers.get(issuer.url, (None, None))
            if keys is None or before is None or _place(before) != _place(issuer):
                dial = self.context.egress.get(issuer.egress)
                keys = KeySet(issuer.url, issuer.discovery_url, issuer.ca, self.context.clock, dial)
            found[issuer.url] = issuer, keys
        return found

    def _read_stamp(self) -> tuple[int, int, int]:
        if not self._path:
            return 0, 0, 0
        try:
            status = Path(self._path).stat()
        except OSError:
            return 0, 0, 0  # gone for a moment while it is replaced, or for good: go on with what was good
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _current(self) -> Known:
        stamp = self._read_stamp()
        if stamp in {self._stamp, (0, 0, 0)}:
            return self._issuers
        with self._lock:
            if stamp != self._stamp:
                self._stamp = stamp
                try:
                    self._issuers = self._with_keys(self._from_file())
                    self.context.logger.info("took up new issuers from %s", self._path)
                except UsageError as error:
                    self.context.logger.warning("keeping the issuers there were: %s", error)
        return self._issuers

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Find the issuer, check the signature, then the claims."""
        import jwt

        token = credentials.token
        if token.count(".") != 2:
            return None
        issuers = self._current()
        if not issuers:
            return None
        try:
            decoded = jwt.decode_complete(token, options={"verify_signature": False})
        except jwt.InvalidTokenError:
            return None
        issuer, keys = issuers.get(str(decoded["payload"].get("iss", "")), (None, None))
        if issuer is None or keys is None:
            return None
        now = self.context.clock.now().timestamp()
        try:
            claims = self._verified(issuer, keys, token, decoded["header"])
            check_claims(issuer, claims, now)
            user = user_of(issuer, self._distributed.expanded(issuer, claims))
        except ClaimRefused as refusal:
            self.context.logger.info("a token was refused: oidc: %s", refusal)
            raise Unauthorized from refusal
        if credentials.audiences and not set(credentials.audiences) <= self._audiences:
            return None
        left = float(claims["exp"]) - now
        return Authenticated(user, (), min(_CACHE_SECONDS, left))

    def _signed(self, issuer: Issuer, keys: KeySet, token: str) -> Mapping[str, Any]:
        """Return the claims of a token that another one led to.

        Raises:
            Unauthorized: it is signed by none of the keys.
        """
        import jwt

        try:
            return self._verified(issuer, keys, token, jwt.get_unverified_header(token))
        except jwt.InvalidTokenError as error:
            raise Unauthorized from error

    def _verified(self, issuer: Issuer, keys: KeySet, token: str, header: Mapping[str, Any]) -> Mapping[str, Any]:
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
                claims: Mapping[str, Any] = jwt.decode(token, key.key, [algorithm], options=unchecked)
            except (jwt.InvalidTokenError, TypeError, ValueError):
                continue
            return claims
        raise Unauthorized


def _place(issuer: Issuer) -> tuple[str, str, str, str]:
    return issuer.url, issuer.discovery_url, issuer.ca, issuer.egress


def _fits(key_type: str, algorithm: str) -> bool:
    return key_type == ("EC" if algorithm.startswith("ES") else "RSA")
