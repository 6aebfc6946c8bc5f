"""Whose client certificates prove something: what the API server publishes for servers that stand beside it.

Source: kubernetes apiserver ``pkg/server/options/authentication.go`` and
``pkg/authentication/request/x509`` (the ConfigMap ``extension-apiserver-authentication``).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from hyperkube.client.client import Client
from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.errors import ApiError, UsageError
from hyperkube.machinery.users import UserInfo

if TYPE_CHECKING:
    from hyperkube_lib.client_certificates import FrontProxy, Headers

PUBLISHED = ("kube-system", "extension-apiserver-authentication")
"""Namespace and name of the ConfigMap in which the API server tells whom it trusts."""
CLIENT_CA = "client-ca-file"
REQUEST_HEADER_CA = "requestheader-client-ca-file"
REQUEST_HEADER_NOTES = "requestheader-client-ca-noted.json"
"""What is noted beside that file (see `hyperkube_lib.client_certificates.noted`), in clusters that note it."""
_LISTS = ("allowed-names", "username-headers", "uid-headers", "group-headers", "extra-headers-prefix")
REFRESH_SECONDS = 60.0
_log = logging.getLogger("hyperkube.serving")


def front_proxy_of(authority_file: str, published: Mapping[str, str]) -> FrontProxy:
    """Return the front proxy that the ConfigMap's data describe, whose authority stands in a file.

    Raises:
        UsageError: the file holds no certificate.
        ValueError: a list is no JSON.
    """
    from hyperkube_lib.client_certificates import FrontProxy

    return FrontProxy(authority_file, **_lists(published))


def _lists(published: Mapping[str, str]) -> dict[str, list[str]]:
    return {name.replace("-", "_"): orjson.loads(published.get(f"requestheader-{name}") or "[]") for name in _LISTS}


class PublishedFrontProxy:
    """The front proxy as it is published, if it is; thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data: Mapping[str, str] = {}
        self._proxy: FrontProxy | None = None

    def user(self, chain: Sequence[bytes], headers: Headers, now: datetime) -> UserInfo | None:
        """Return whom a request's headers name; None where there is no front proxy, or they name no user.

        Raises:
            CertificateRefused: the certificate is not the proxy's.
        """
        proxy = self._proxy
        return None if proxy is None else proxy.user(chain, headers, now)

    def take(self, published: Mapping[str, str]) -> None:
        """Believe what is published now; as long as that names no authority, what was before stays."""
        from hyperkube_lib.serving.certificates import make_ca, write_public

        data = {key: value for key, value in published.items() if key.startswith("requestheader-")}
        if not data.get(REQUEST_HEADER_CA):
            if not self.path.exists():
                write_public(self.path, make_ca("none").certificate)
        elif data != self._data:
            try:
                _lists(data)  # before the authority changes: the old rules are not for a new one
                write_public(self.path, data[REQUEST_HEADER_CA].encode())
                self._proxy, self._data = front_proxy_of(str(self.path), data), data
            except (UsageError, ValueError) as error:
                _log.warning("the published front proxy is not believed: %s", error)


class PublishedAuthority:
    """Keeps the published authorities in files, which their readers read again when they have changed.

    As long as nothing is published, or the API server does not answer, a file holds an authority that has signed
    nothing: no client is believed, and TLS asks for certificates all the same.
    """

    def __init__(self, client: Client, clock: Clock, folder: Path, *, tolerant: bool) -> None:
        """Take whom to ask, and where to keep it; `tolerant`: go on when the first look-up fails."""
        self._client = client
        self._clock = clock
        self._tolerant = tolerant
        self._timer: Timer | None = None
        self._closed = False
        self.path = folder / "client-ca.crt"
        self.front_proxy = PublishedFrontProxy(folder / "request-header-ca.crt")

    def start(self) -> None:
        """Write the files, and look again once a minute.

        Raises:
            UsageError: the API server could not be asked, and that is not tolerated.
        """
        from hyperkube_lib.serving.certificates import make_ca, write_public

        try:
            found = self._found()
        except (ApiError, OSError) as error:
            where = "/".join(PUBLISHED)
            if not self._tolerant:
                raise UsageError(f"cannot look up configmap {where}: {error}") from error
            _log.warning("cannot look up configmap %s yet; certificates prove nothing until then: %s", where, error)
            found = {}
        write_public(self.path, found.get(CLIENT_CA, "").encode() or make_ca("none").certificate)
        self.front_proxy.take(found)
        self._timer = self._clock.call_later(REFRESH_SECONDS, self._refresh)

    def close(self) -> None:
        """Look no more."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _found(self) -> Mapping[str, str]:
        namespace, name = PUBLISHED
        return self._client.get(CONFIG_MAPS, name, namespace).get("data") or {}

    def _refresh(self) -> None:
        from hyperkube_lib.serving.certificates import write_public

        if self._closed:
            return
        try:
            found = self._found()
        except (ApiError, OSError) as error:
            _log.info("cannot look up whose certificates to believe: %s", error)
            found = {}
        authority = found.get(CLIENT_CA, "")
        if authority and authority != self.path.read_text():
            write_public(self.path, authority.encode())
        self.front_proxy.take(found)
        self._timer = self._clock.call_later(REFRESH_SECONDS, self._refresh)
