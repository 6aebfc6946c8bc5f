"""The API server behind the console, and who asks it: every request carries the credentials of the user who looks.

The console has no identity of its own. Its owner is the user of the kubeconfig that it was started with; anybody else
shows a bearer token, which the API server judges.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from hyperkube_lib.serving.exchange import Passed, RelayUpgrade

from hyperkube.client import kubeconfig
from hyperkube.client.client import Client
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

WITHHELD = ("cookie", "origin", "referer", "sec-fetch-", "x-csrf-token")
"""What browsers send that concerns the console alone."""
USER_AGENT = "hyperkube-console"


class Acting(Protocol):
    """The API as one user sees it: for complete answers a client, for streams the way to relay them."""

    @property
    def client(self) -> Client:
        """Asks as the user."""

    def relay(self, path: str, security_headers: list[tuple[str, str]]) -> RelayUpgrade:
        """Return how a stream (a watch, a followed log, a terminal) is passed on as the user."""

    def config(self) -> Object:
        """Return a kubeconfig of the user, for commands that run beside the console."""


@dataclass(frozen=True, slots=True)
class User:
    """A user of the API server, by certificate or token."""

    access: kubeconfig.Access
    client: Client
    certificate_file: str = ""
    key_file: str = ""

    def relay(self, path: str, security_headers: list[tuple[str, str]]) -> RelayUpgrade:
        """Return how a stream is passed on as the user; its answer gets the console's security headers."""
        cluster, user = self.access.cluster, self.access.user
        parts = urlsplit(cluster["server"])
        is_secure = parts.scheme == "https"
        replaced = {name.lower() for name, _ in security_headers}
        checked = is_secure and not cluster.get("insecure-skip-tls-verify")

        def answered(headers: list[tuple[str, str]]) -> Passed:
            return Passed([*((name, value) for name, value in headers if name.lower() not in replaced),
                           *security_headers])  # fmt: skip

        return RelayUpgrade(
            host=parts.hostname or "",
            port=parts.port or (443 if is_secure else 80),
            path=f"{parts.path.rstrip('/')}{path}",
            tls=is_secure,
            ca_file=_plain(cluster, "certificate-authority") if checked else "",
            ca_data=_decoded(cluster, "certificate-authority-data") if checked else "",
            server_name=cluster.get("tls-server-name", ""),
            certificate_file=self.certificate_file,
            key_file=self.key_file,
            headers=[("User-Agent", USER_AGENT), *_credentials(user)],
            redirects=False,
            withheld=WITHHELD,
            answered=answered,
        )

    def config(self) -> Object:
        """Return a kubeconfig of the user."""
        made = kubeconfig.put(kubeconfig.empty(), "clusters", "console", self.access.cluster)
        made = kubeconfig.put(made, "users", "console", self.access.user)
        made = kubeconfig.put(made, "contexts", "console", {"cluster": "console", "user": "console"})
        return {**made, "current-context": "console"}


class Upstream:
    """One API server, as a kubeconfig names it."""

    def __init__(self, access: kubeconfig.Access, folder: Path, clock: Clock) -> None:
        """Remember it; nothing is asked yet.

        Args:
            access: the cluster, and the console's owner.
            folder: where keys that the kubeconfig holds are kept as files, for TLS; readable by this user alone.
            clock: of the clients.
        """
        self._access = access
        self._folder = folder
        self._clock = clock

    def owner(self) -> User:
        """Return the user of the kubeconfig.

        Raises:
            UsageError: the credentials cannot be used.
        """
        user = self._access.user
        certificate = self._file("client.crt", user, "client-certificate")
        key = self._file("client.key", user, "client-key")
        return User(self._access, self._client(self._access), certificate, key)

    def bearer(self, token: str) -> User:
        """Return the user whose token this is; whether the API server takes it is seen when it is asked.

        Raises:
            UsageError: no header can carry it.
        """
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise UsageError("a bearer token is one word of ASCII letters, digits and signs")
        access = kubeconfig.Access(self._access.cluster, {"token": token}, "default")
        return User(access, self._client(access))

    def _client(self, access: kubeconfig.Access) -> Client:
        return kubeconfig.client_for(access, clock=self._clock, user_agent=USER_AGENT)

    def _file(self, name: str, entry: Object, key: str) -> str:
        """Return a file with what the kubeconfig holds, or names."""
        text = _decoded(entry, f"{key}-data")
        if not text:
            return _plain(entry, key)
        path = self._folder / name
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
        return str(path)


def _plain(entry: Object, key: str) -> str:
    return "" if entry.get(f"{key}-data") else str(entry.get(key, ""))


def _decoded(entry: Object, key: str) -> str:
    data: Any = entry.get(key) or ""
    return base64.b64decode(data).decode()


def _credentials(user: Object) -> list[tuple[str, str]]:
    """Return the headers that say who acts, beside a certificate."""
    found = []
    if user.get("tokenFile"):
        found.append(("Authorization", f"Bearer {Path(user['tokenFile']).read_text(encoding='utf-8').strip()}"))
    elif user.get("token"):
        found.append(("Authorization", f"Bearer {user['token']}"))
    elif user.get("username"):
        pair = f"{user['username']}:{user.get('password', '')}".encode()
        found.append(("Authorization", f"Basic {base64.b64encode(pair).decode()}"))
    if user.get("as"):
        found.append(("Impersonate-User", user["as"]))
    return found
