"""Which group versions other servers serve: what APIServices with a service say, as far as requests need it."""

from __future__ import annotations

import threading
from dataclasses import field

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, name_of

HTTPS_PORT = 443


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """One group version of another server.

    Attributes:
        name: of the APIService.
        ca: the authority of the server's certificate, PEM; empty: the machine's own authorities.
        is_checked: whether the certificate is checked at all.
        available: whether the last check passed.
        resources: the rows of its APIResourceList, as far as it has answered.
    """

    name: str
    group: str
    version: str
    group_priority: int
    version_priority: int
    namespace: str
    service: str
    port: int
    ca: str = ""
    is_checked: bool = True
    available: bool = False
    resources: tuple[Object, ...] = field(default=(), hash=False)


def remote_of(registration: Object) -> Remote | None:
    """Return what an APIService says of another server; None when it stands for this one."""
    import base64

    spec = registration.get("spec") or {}
    service = spec.get("service")
    if service is None:
        return None
    conditions = (registration.get("status") or {}).get("conditions") or ()
    available = any(one.get("type") == "Available" and one.get("status") == "True" for one in conditions)
    return Remote(
        name=name_of(registration),
        group=spec.get("group") or "",
        version=spec.get("version") or "",
        group_priority=spec.get("groupPriorityMinimum") or 0,
        version_priority=spec.get("versionPriority") or 0,
        namespace=service.get("namespace") or "",
        service=service.get("name") or "",
        port=service.get("port") or HTTPS_PORT,
        ca=base64.b64decode(spec.get("caBundle") or "").decode("utf-8", "replace"),
        is_checked=not spec.get("insecureSkipTLSVerify"),
        available=available,
    )


class Remotes:
    """All of them, by group version; read by requests, written by one controller.

    Attributes:
        generation: grows with every change; discovery compares it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_version: dict[tuple[str, str], Remote] = {}
        self.generation = 0

    def __bool__(self) -> bool:
        return bool(self._by_version)

    def find(self, group: str, version: str) -> Remote | None:
        """Return who serves a group version elsewhere."""
        return self._by_version.get((group, version))

    def all(self) -> list[Remote]:
        """Return all of them."""
        return list(self._by_version.values())

    def put(self, remote: Remote) -> None:
        """Add one, or replace it."""
        key = (remote.group, remote.version)
        with self._lock:
            if self._by_version.get(key) == remote:
                return
            self._by_version = {**self._by_version, key: remote}
            self.generation += 1

    def renew(self, remote: Remote) -> None:
        """Replace one after it was asked, unless it has gone meanwhile."""
        known = self.find(remote.group, remote.version)
        if known is not None and known.name == remote.name:
            self.put(remote)

    def drop(self, name: str) -> None:
        """Forget the one that an APIService stood for."""
        with self._lock:
            left = {key: remote for key, remote in self._by_version.items() if remote.name != name}
            if len(left) != len(self._by_version):
                self._by_version = left
                self.generation += 1
