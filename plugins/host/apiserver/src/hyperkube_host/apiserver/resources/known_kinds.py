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
_WORKLOADS = frozenset({"ControllerRevision", "Deployment", "StatefulSet", "Scale"})
_UNSERVED = {
    ("apps", "v1beta1"): _WORKLOADS,
    ("apps", "v1beta2"): _WORKLOADS | {"DaemonSet", "ReplicaSet"},
    ("batch", "v1beta1"): frozenset({"CronJob"}),
    ("discovery.k8s.io", "v1beta1"): frozenset({"EndpointSlice"}),
    ("events.k8s.io", "v1beta1"): frozenset({"Event"}),
    ("extensions", "v1beta1"): frozenset(
        {"DaemonSet", "Deployment", "Ingress", "NetworkPolicy", "ReplicaSet", "Scale"}
    ),
    ("policy", "v1beta1"): frozenset({"Eviction", "PodDisruptionBudget"}),
}
"""Kinds in versions that are registered, but served no more."""
_INTERNAL_GROUPS = {
    **{("extensions", kind): "apps" for kind in ("DaemonSet", "Deployment", "ReplicaSet")},
    **{("extensions", kind): "networking.k8s.io" for kind in ("Ingress", "NetworkPolicy")},
    **{(group, "Scale"): "autoscaling" for group in ("apps", "extensions")},
    ("events.k8s.io", "Event"): "",
}
"""The group of the internal type of kinds that another group defines."""


def _internal(kind: GroupVersionKind) -> tuple[str, str]:
    return _INTERNAL_GROUPS.get((kind.group, kind.kind), kind.group), kind.kind


class KnownKinds:
    """Looks kinds up in the registry: objects, their lists, the kinds of subresources and the shared options.

    Versions that are not served any more are known for what a body may still say it is.

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
        if kind.kind in _UNSERVED.get((kind.group, kind.version), ()):
            return True
        return kind.kind in _EVERY_GROUP and self._registry.version(kind.group, kind.version) is not None

    def is_version_of(self, kind: GroupVersionKind, other: GroupVersionKind) -> bool:
        """Tell whether a registered kind has the internal type of the other: it is the same in another version."""
        return kind.kind not in _EVERY_GROUP and _internal(kind) == _internal(other) and self.is_registered(kind)

    def _all(self) -> set[GroupVersionKind]:
        found: set[GroupVersionKind] = set()
        for served in self._registry.resources():
            if not served.custom:
                found |= {served.kind, served.list_kind(), *(sub.kind for sub in served.spec.subresources)}
        return found
