"""Which kinds are registered at all: decides how a body of another kind is refused."""

from __future__ import annotations

from hyperkube_host.apiserver.resources.registry import Registry

from hyperkube.machinery.groups import GroupVersionKind

_EVERY_GROUP = frozenset(
    {"DeleteOptions", "CreateOptions", "PatchOptions", "UpdateOptions", "GetOptions", "ListOptions", "WatchEvent"}
)


class KnownKinds:
    """Looks kinds up in the registry: objects, their lists, the kinds of subresources and the shared options."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._generation = -1
        self._kinds: frozenset[GroupVersionKind] = frozenset()

    def is_registered(self, kind: GroupVersionKind) -> bool:
        """Tell whether the kind is registered."""
        if self._generation != self._registry.generation:
            self._generation = self._registry.generation
            self._kinds = frozenset(self._all())
        if kind in self._kinds:
            return True
        return kind.kind in _EVERY_GROUP and self._registry.version(kind.group, kind.version) is not None

    def _all(self) -> set[GroupVersionKind]:
        found: set[GroupVersionKind] = set()
        for served in self._registry.resources():
            if not served.custom:
                found |= {served.kind, served.list_kind(), *(sub.kind for sub in served.spec.subresources)}
        return found
