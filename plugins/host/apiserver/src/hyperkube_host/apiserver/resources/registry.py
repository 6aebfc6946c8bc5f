"""The registry of everything that is served: dynamic, because custom resources come and go while the server runs.

Readers take no lock: a change builds new tables and swaps them in. `generation` grows after the tables are swapped, and
what is derived from them is remembered with the generation that was read before: it may be built anew once too often,
but never stays behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Protocol, TypeVar

from hyperkube_host.apiserver.resources.served import ResourceStorage, ServedResource, is_stored
from hyperkube_lib.watch_cache.watch_cache import StoreCache

from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource


class NotServed(UsageError, LookupError):
    """A resource that the server needs and does not serve; the message names the distribution of its API group."""

    def __init__(self, resource: GroupVersionResource) -> None:
        name = ".".join(filter(None, reversed(resource)))
        distribution = f"hyperkube-api-{resource.group.partition('.')[0] or 'core'}"
        super().__init__(f"resource {name!r} is not served: its API group comes with distribution {distribution!r}")


@dataclass(slots=True)
class ServedVersion:
    """One version of a group with what it serves, by plural name."""

    group: str
    version: str
    group_priority: int
    version_priority: int
    resources: dict[str, ServedResource] = field(default_factory=dict)
    custom: bool = False


class Registry:
    """All served resources.

    Args:
        cache: of the store that resources are kept in.
        root: the prefix of all keys.
        elsewhere: storage prefix → the cache of another store that the resource is kept in.

    Attributes:
        root: the prefix of all keys.
        generation: grows with every change; discovery and OpenAPI compare it.
    """

    def __init__(
        self, cache: StoreCache, *, root: str = "/registry/", elsewhere: Mapping[str, StoreCache] | None = None
    ) -> None:
        self._cache = cache
        self.root = root
        self._lock = threading.RLock()
        self._versions: dict[tuple[str, str], ServedVersion] = {}
        self._kinds: dict[GroupVersionKind, ServedResource] = {}
        self._storages: dict[str, ResourceStorage] = {}
        self._listeners: list[Callable[[], None]] = []
        self.generation = 0
        self._elsewhere = dict(elsewhere or {})
        self._stored: dict[str, GroupResource] = {}
        self._stored_generation = 0
        self._together: tuple[int, dict[str, list[ServedResource]]] = 0, {}

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every change, on the changing thread."""
        self._listeners.append(listener)

    def version(self, group: str, version: str) -> ServedVersion | None:
        """Return a served version of a group."""
        return self._versions.get((group, version))

    def has_built_in(self, group: str) -> bool:
        """Tell whether a version of a group is served that no CustomResourceDefinition makes."""
        return any(version.group == group and not version.custom for version in self._versions.values())

    def versions(self) -> list[ServedVersion]:
        """Return all served versions in the order of discovery: by priority of the group, then of the version."""
        return in_order(self._versions.values())

    def find(self, resource: GroupVersionResource) -> ServedResource | None:
        """Return a served resource."""
        served = self._versions.get((resource.group, resource.version))
        return served.resources.get(resource.resource) if served is not None else None

    def get(self, resource: GroupVersionResource) -> ServedResource:
        """Return a served resource.

        Raises:
            NotServed: it is not.
        """
        found = self.find(resource)
        if found is None:
            raise NotServed(resource)
        return found

    def by_kind(self, kind: GroupVersionKind) -> ServedResource | None:
        """Return the resource that serves a kind."""
        return self._kinds.get(kind)

    def any_version(self, group: str, resource: str) -> ServedResource | None:
        """Return a resource in whichever version of its group is served first."""
        for served in self.versions():
            if served.group == group and resource in served.resources:
                return served.resources[resource]
        return None

    def stored_at(self, key: str) -> GroupResource | None:
        """Return the resource that a key of the store belongs to, None for a key that holds none of what is served."""
        if self._stored_generation != self.generation:
            generation = self.generation
            stored = [served for served in self.resources() if served.storage is not None]
            stored.sort(key=lambda served: served.is_stored)  # whose own version is stored has the last word
            self._stored = {served.stored().prefix: served.group_resource for served in stored}
            self._stored_generation = generation
        end = key.rfind("/")
        while end > 0:
            found = self._stored.get(key[: end + 1])
            if found is not None:
                return found
            end = key.rfind("/", 0, end)
        return None

    def stored_together(self, served: ServedResource) -> Sequence[ServedResource]:
        """Return the resources whose objects are kept in one place with a resource's own, itself among them."""
        generation, together = self._together
        if generation != self.generation:
            generation, together = self.generation, {}
            for one in self.resources():
                together.setdefault(one.spec.storage_prefix, []).append(one)
            self._together = generation, together
        return together.get(served.spec.storage_prefix, ()) if served.spec.storage_prefix else ()

    def resources(self) -> list[ServedResource]:
        """Return everything that is served, in the order of discovery."""
        return [resource for version in self.versions() for resource in version.resources.values()]

    def add(self, declared: Iterable[ApiGroupVersion], *, custom: bool = False, anew: bool = False) -> None:
        """Serve group versions; a resource that is there already is replaced.

        `anew` has what is stored read again, and ends the watches: it may look different now.

        Raises:
            UsageError: a built-in resource is declared twice.
        """
        with self._lock:
            for version in declared:
                self._add_version(version, custom=custom)
                for spec in version.resources if anew else ():
                    storage = self._storages.get(spec.storage_prefix)
                    if storage is not None:
                        storage.forget()
            self._changed()

    def _add_version(self, declared: ApiGroupVersion, *, custom: bool) -> None:
        key = (declared.group, declared.version)
        current = self._versions.get(key)
        served = ServedVersion(
            declared.group, declared.version, declared.group_priority, declared.version_priority, custom=custom
        )
        served.resources = dict(current.resources) if current is not None else {}
        for spec in declared.resources:
            if spec.resource.resource in served.resources and not custom:
                raise UsageError(f"resource {spec.resource.group_resource} is declared twice in {declared.version}")
            served.resources[spec.resource.resource] = ServedResource(
                spec, self._storage(spec), custom=custom, together=self.stored_together
            )
        self._versions = {**self._versions, key: served}

    def _storage(self, spec: ResourceSpec) -> ResourceStorage | None:
        if not spec.storage_prefix:
            return None
        storage = self._storages.get(spec.storage_prefix)
        if storage is None:
            storage = self._storages[spec.storage_prefix] = ResourceStorage(
                self._elsewhere.get(spec.storage_prefix, self._cache), self.root, spec.storage_prefix
            )
        if is_stored(spec):
            storage.learn(spec)
        return storage

    def remove(self, resource: GroupVersionResource) -> None:
        """Serve a resource no more; its version goes with its last resource."""
        with self._lock:
            key = (resource.group, resource.version)
            current = self._versions.get(key)
            if current is None or resource.resource not in current.resources:
                return
            gone = current.resources[resource.resource]
            left = {name: served for name, served in current.resources.items() if name != resource.resource}
            versions = {other: version for other, version in self._versions.items() if other != key}
            if left:
                versions[key] = ServedVersion(
                    current.group,
                    current.version,
                    current.group_priority,
                    current.version_priority,
                    left,
                    current.custom,
                )
            self._versions = versions
            self._release(gone)
            self._changed()

    def _release(self, gone: ServedResource) -> None:
        if gone.storage is None or any(other.storage is gone.storage for other in self.resources()):
            return
        self._storages.pop(gone.spec.storage_prefix, None)
        gone.storage.forget()

    def _changed(self) -> None:
        self._kinds = {served.kind: served for served in reversed(self.resources())}
        self.generation += 1
        self._together = 0, {}  # else what is gone would stay until it is asked for
        for listener in self._listeners:
            listener()

    def knows_group_version(self, version: GroupVersion) -> bool:
        """Tell whether anything is served in the group version."""
        return (version.group, version.version) in self._versions


class _Ranked(Protocol):
    @property
    def group(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def group_priority(self) -> int: ...
    @property
    def version_priority(self) -> int: ...


_Version = TypeVar("_Version", bound=_Ranked)


def in_order(versions: Iterable[_Version]) -> list[_Version]:
    """Return group versions in the order of discovery: by priority of the group, then of the version."""
    found = list(versions)
    groups: dict[str, int] = {}
    for version in found:
        groups[version.group] = max(groups.get(version.group, 0), version.group_priority)
    return sorted(
        found,
        key=lambda one: (-groups[one.group], one.group, -one.version_priority, version_key(one.version)),
    )


def version_key(version: str) -> tuple[int, int, int, str]:
    """Return the sort key of a version's name: general availability first, then beta, then alpha, newest first.

    Source: kubernetes apimachinery ``pkg/version/helpers.go``.
    """
    head, tail = version[:1], version[1:]
    digits = tail[: len(tail) - len(tail.lstrip("0123456789"))]
    rest = tail[len(digits) :]
    if head != "v" or not digits:
        return (3, 0, 0, version)
    if not rest:
        return (0, -int(digits), 0, "")
    for rank, word in ((1, "beta"), (2, "alpha")):
        number = rest.removeprefix(word)
        if rest.startswith(word) and number.isdigit():
            return (rank, -int(digits), -int(number), "")
    return (3, 0, 0, version)
