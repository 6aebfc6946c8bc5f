"""Keystone: a user who can log in to OpenStack with a user name and a password may log in here.

Source: kubernetes 1.5 ``plugin/pkg/auth/authenticator/password/keystone/keystone.go``.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from typing import ClassVar, Literal
from urllib.parse import urlsplit

import orjson

from hyperkube.client.exchange import Bounds
from hyperkube.client.http import HttpClient
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import Unauthorized, UsageError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin, PluginContext

_URL = "experimental-keystone-url"
_TIMEOUT_SECONDS = 10.0
_REMEMBER_SECONDS = 10.0
_REMEMBER_MAX = 1000


def login_body(name: str, password: str, *, version_2: bool) -> Object:
    """Return what Keystone wants to be asked for a token."""
    if version_2:
        return {"auth": {"passwordCredentials": {"username": name, "password": password}}}
    user = {"name": name, "password": password, "domain": {"id": "default"}}
    return {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}}}


class Settings(Record):
    """Where keystone is, and who signed its certificate."""

    experimental_keystone_url: str = ""
    experimental_keystone_ca_file: str = ""


class Keystone(Plugin):
    """Names the user whom the server of ``--experimental-keystone-url`` lets in."""

    takes_passwords: ClassVar[Literal[True]] = True

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = self.settings(Settings)
        url = settings.experimental_keystone_url.rstrip("/")
        self._client: HttpClient | None = None
        self._key = secrets.token_bytes(32)
        self._known: dict[bytes, float] = {}
        self._lock = threading.Lock()
        if not url:
            return
        if urlsplit(url).scheme != "https":
            raise UsageError(f"{_URL} {url!r}: Auth URL should be secure and start with https")
        self._version_2 = url.endswith("/v2.0")
        self._path = "/tokens" if self._version_2 else "/auth/tokens" if url.endswith("/v3") else "/v3/auth/tokens"
        self._client = HttpClient(
            url,
            ca_file=settings.experimental_keystone_ca_file,
            timeout=_TIMEOUT_SECONDS,
            clock=context.clock,
            bounds=Bounds(size=1 << 20, seconds=_TIMEOUT_SECONDS),
        )

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Log in; a password that was right a moment ago is right."""
        if credentials.basic is None or self._client is None:
            return None
        name, password = credentials.basic
        key = hmac.digest(self._key, f"{name}\0{password}".encode(), hashlib.sha256)
        now = self.context.clock.monotonic()
        if self._known.get(key, 0.0) <= now:
            self._log_in(self._client, name, password)
            with self._lock:
                if len(self._known) >= _REMEMBER_MAX:
                    self._known.clear()
                self._known[key] = now + _REMEMBER_SECONDS
        return Authenticated(UserInfo(name), credentials.audiences)

    def _log_in(self, client: HttpClient, name: str, password: str) -> None:
        if not name or not password:
            raise Unauthorized
        body = orjson.dumps(login_body(name, password, version_2=self._version_2))
        try:
            answer = client.request("POST", self._path, headers={"Content-Type": "application/json"}, body=body)
        except ConnectionError as error:
            self.context.logger.warning("keystone cannot be reached: %s", error)
            raise Unauthorized from error
        if answer.status not in {200, 201}:
            raise Unauthorized

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
