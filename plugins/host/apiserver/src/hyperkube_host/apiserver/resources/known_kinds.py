"""Which kinds are registered at all: decides how a body of another kind is refused."""

from __future__ import annotations

from hyperkube_host.apiserver.resources.registry import Registry

from hyperkube.machinery.groups import GroupVersionKind

_EVERY_GROUP = frozenset(
    {"DeleteOptions", "CreateOptions", "PatchOptions", "UpdateOptions", "GetOptions", "ListOptions", "WatchEvent"}
)
_UNVERSIONED = frozenset({"Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"})
_CORE = frozenset(
    {
        *("List", "PodStatusResult", "SerializedReference", "RangeAllocation", "NodeProxyOptions"),
        *("ServiceProxyOptions", "PodAttachOptions", "PodExecOptions", "PodLogOptions", "PodPortForwardOptions"),
        "PodProxyOptions",
    }
)
"""Kinds of the core group that no resource has."""


class KnownKinds:
    """Looks kinds up in the registry: objects, their lists, the kinds of subresources and the shared options.

    Source of the kinds beside resources: kubernetes apimachinery ``pkg/apis/meta/v1/register.go``, api
    ``core/v1/register.go``.
    """

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
        if (kind.group, kind.version) == ("", "v1") and kind.kind in _UNVERSIONED | _CORE:
            return True
        return kind.kind in _EVERY_GROUP and self._registry.version(kind.group, kind.version) is not None

    def _all(self) -> set[GroupVersionKind]:
        found: set[GroupVersionKind] = set()
        for served in self._registry.resources():
            if not served.custom:
                found |= {served.kind, served.list_kind(), *(sub.kind for sub in served.spec.subresources)}
        return found
