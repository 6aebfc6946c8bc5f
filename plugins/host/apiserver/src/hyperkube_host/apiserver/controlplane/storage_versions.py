"""What a server says of how it stores each resource: a StorageVersion per resource, with the gate StorageVersionAPI.

Source: kubernetes apiserver ``pkg/storageversion/{manager,updater}.go``, ``pkg/server/genericapiserver.go`` and
controlplane ``apiserver/server.go`` (the post-start hook, which says it anew every ten minutes). As in Kubernetes there
is none for a custom resource: its definition's ``status.storedVersions`` tells in which versions it is stored.
"""

from __future__ import annotations

from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_lib.storage_versions import STORAGE_VERSIONS, with_common_encoding_version, with_server

from hyperkube.client.client import Client
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import AlreadyExists, Conflict, NotFound
from hyperkube.machinery.objects import Object, metadata

SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Stored:
    """How one resource is stored.

    Attributes:
        name: of its StorageVersion.
        encoding: the group and version that is written.
        decodable: those that can be read.
        served: those that are served.
    """

    name: str
    encoding: str
    decodable: tuple[str, ...]
    served: tuple[str, ...]


def stored_resources(registry: Registry) -> list[Stored]:
    """Return what is stored, by name: of several resources that are kept in one place, the first by group and name."""
    places: dict[str, list[ServedResource]] = {}
    for served in registry.resources():
        if served.storage is not None and not served.custom:
            places.setdefault(served.spec.storage_prefix, []).append(served)
    return sorted((_stored(together) for together in places.values()), key=lambda row: row.name)


def _stored(together: list[ServedResource]) -> Stored:
    first = min(together, key=lambda each: (each.group_resource.group, each.group_resource.resource))
    kind = first.spec.storage_kind or first.kind
    encoding = next((each.kind for each in together if each.is_stored), kind)
    versions = tuple(dict.fromkeys(_text(each.kind.group, each.kind.version) for each in together))
    written = _text(encoding.group, encoding.version)
    decodable = versions if written in versions else (*versions, written)
    return Stored(
        f"{first.group_resource.group or 'core'}.{first.group_resource.resource}", written, decodable, versions
    )


def _text(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


class StorageVersions:
    """Writes down how one server stores what it serves."""

    def __init__(self, registry: Registry, client: Client, clock: Clock, server: str) -> None:
        self._registry = registry
        self._client = client
        self._clock = clock
        self._server = server
        self._written = float("-inf")

    def update(self) -> None:
        """Write down what has changed, at most every ten minutes; one that another server writes too comes next time.

        Raises:
            ApiError: the server does not take it.
        """
        now = self._clock.monotonic()
        if now - self._written < SECONDS or self._registry.find(STORAGE_VERSIONS) is None:
            return
        late = [row for row in stored_resources(self._registry) if not self._write(row)]
        if not late:
            self._written = now

    def _write(self, row: Stored) -> bool:
        try:
            found = self._found(row.name)
            status = found.get("status") or {}
            said = with_server(status, self._server, row.encoding, row.decodable, row.served)
            if said == status:
                return True
            told = with_common_encoding_version(said, metadata(found).get("generation", 0), self._clock.now())
            self._client.update(STORAGE_VERSIONS, {**found, "status": told}, subresource="status")
        except (AlreadyExists, Conflict, NotFound):
            return False
        return True

    def _found(self, name: str) -> Object:
        try:
            return self._client.get(STORAGE_VERSIONS, name)
        except NotFound:
            return self._client.create(STORAGE_VERSIONS, {"metadata": {"name": name}, "spec": {}})
