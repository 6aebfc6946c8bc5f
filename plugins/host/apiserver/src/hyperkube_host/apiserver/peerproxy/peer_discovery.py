"""What the other API servers serve, as they say it themselves.

Source: kubernetes apiserver ``pkg/util/peerproxy/peer_discovery.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

import orjson
from hyperkube_host.apiserver.controlplane.identity_lease import LABEL, LABEL_VALUE, NAMESPACE
from hyperkube_host.apiserver.peerproxy.peer_metrics import PeerMetrics, Resource, SyncError

from hyperkube.client.client import Client
from hyperkube.kinds.resources import LEASES
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, name_of

_WHOLE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
ACCEPT = f"{_WHOLE};profile=nopeer,{_WHOLE}"
"""What a server is asked for: its own resources alone, if it knows others."""
Ask = Callable[[str, str], bytes]
"""Returns the body of a server's answer to a GET of a path; raises `OSError` for one that gives none, and of these
`NotLocated` for one that has not said where it is reached."""


class NotLocated(OSError):
    """A server has not said where it is reached; it is asked again."""


@dataclass(frozen=True, slots=True)
class Served:
    """What a server serves: its resources, and the entries of its APIGroupDiscoveryList that are below ``/apis``."""

    resources: frozenset[Resource] = frozenset()
    groups: tuple[Object, ...] = field(default=(), hash=False)


def served_of(documents: Mapping[str, bytes]) -> Served:
    """Return what a server serves, given its answers at ``/api`` and ``/apis``.

    Raises:
        ValueError, TypeError, AttributeError: one has another form.
    """
    found: set[Resource] = set()
    groups: list[Object] = []
    for body in documents.values():
        for group in orjson.loads(body).get("items") or ():
            name = (group.get("metadata") or {}).get("name") or ""
            found.update((name, version["version"], row["resource"]) for version, row in _rows(group))
            if name:
                groups.append(group)
    return Served(frozenset(found), tuple(groups))


def _rows(group: Object) -> Iterator[tuple[Object, Object]]:
    for version in group.get("versions") or ():
        for row in version.get("resources") or ():
            yield version, row


class PeerDiscovery:
    """Keeps what others serve; read by requests, written by one thread.

    Attributes:
        generation: grows with every change; discovery compares it.
    """

    def __init__(self, own: str, client: Client, ask: Ask, metrics: PeerMetrics, logger: logging.Logger) -> None:
        """Ask no server yet.

        Args:
            own: the name of this server's identity Lease.
            client: the API, as the server itself sees it.
            ask: asks a server, by the name of its Lease.
            metrics: counts failures.
            logger: of failures.
        """
        self._own = own
        self._client = client
        self._ask = ask
        self._metrics = metrics
        self._logger = logger
        self._holders: dict[str, str] = {}
        self._served: dict[str, Served] = {}
        self.generation = 0

    def __bool__(self) -> bool:
        return bool(self._served)

    def serving(self, resource: Resource) -> list[str]:
        """Return the other servers that serve a resource."""
        return sorted(name for name, served in self._served.items() if resource in served.resources)

    def groups(self) -> list[Object]:
        """Return what others say of their groups, of each server after the other."""
        return [group for _name, served in sorted(self._served.items()) for group in served.groups]

    def update(self) -> None:
        """Ask the servers that have come, were started anew or gave no answer before, and forget those that went.

        Raises:
            ApiError: the Leases cannot be read.
        """
        try:
            leases = self._client.list(LEASES, NAMESPACE, label_selector=f"{LABEL}={LABEL_VALUE}").items
        except ApiError:
            self._metrics.not_learned(SyncError.LEASES)
            raise
        holders = {name_of(lease): str((lease.get("spec") or {}).get("holderIdentity") or "") for lease in leases}
        served: dict[str, Served] = {}
        for name, holder in holders.items():
            if name == self._own or not holder:
                continue
            known = self._served.get(name)
            fresh = known if known is not None and self._holders.get(name) == holder else self._asked(name)
            if fresh is not None:
                served[name] = fresh
        self._holders = holders
        if served != self._served:
            self._served = served
            self.generation += 1

    def _asked(self, name: str) -> Served | None:
        try:
            answers = {path: self._ask(name, path) for path in ("/api", "/apis")}
            return served_of(answers)
        except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
            self._metrics.not_learned(SyncError.PLACE if isinstance(error, NotLocated) else SyncError.ANSWER)
            self._logger.warning("what the API server %s serves is not known: %s", name, error)
            return None
