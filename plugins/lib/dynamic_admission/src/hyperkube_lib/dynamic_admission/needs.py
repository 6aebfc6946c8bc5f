"""What the pods behind a webhook need of the API to come up: their own writes, and those of nodes and controllers.

A webhook that is asked about one of these, fails closed, and has its backend in the cluster stands in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Literal

from hyperkube_lib.dynamic_admission.matching import MatchFailed, NamespaceOf, rule_matches, selectors_match

from hyperkube.hookspecs.admission import AdmissionRequest, Operation
from hyperkube.kinds.resources import (
    CONFIG_MAPS,
    CONTROLLER_REVISIONS,
    DAEMON_SETS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    ENDPOINTS,
    LEASES,
    NODES,
    PODS,
    REPLICA_SETS,
    SERVICE_ACCOUNTS,
    STATEFUL_SETS,
)
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.machinery.objects import Object, labels_of
from hyperkube.machinery.users import LOOPBACK

Place = Literal["pods", "namespace", "nodes"]
"""The backend's own pods; its namespace; or the nodes, and the leases that nodes and controllers hold."""

_LEASE_NAMESPACES = ("kube-node-lease", "kube-system")
_WRITES: tuple[Operation, ...] = ("CREATE", "UPDATE")
_CREATE: tuple[Operation, ...] = ("CREATE",)
_UPDATE: tuple[Operation, ...] = ("UPDATE",)


@dataclass(frozen=True, slots=True)
class Need:
    """A sort of write without which the backend does not come up."""

    resource: GroupVersionResource
    subresource: str
    operations: tuple[Operation, ...]
    place: Place

    def __str__(self) -> str:
        return f"{self.resource.resource}/{self.subresource}" if self.subresource else self.resource.resource


NEEDS = (
    Need(PODS, "", ("CREATE", "UPDATE", "DELETE"), "pods"),
    Need(PODS, "binding", _CREATE, "pods"),
    Need(PODS, "status", _UPDATE, "pods"),
    Need(SERVICE_ACCOUNTS, "", _CREATE, "namespace"),
    Need(SERVICE_ACCOUNTS, "token", _CREATE, "namespace"),
    Need(CONFIG_MAPS, "", _CREATE, "namespace"),
    *(
        Need(resource, subresource, operations, "namespace")
        for resource in (REPLICA_SETS, DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS)
        for subresource, operations in (("", _WRITES), ("status", _UPDATE))
    ),
    Need(CONTROLLER_REVISIONS, "", _CREATE, "namespace"),
    Need(ENDPOINTS, "", _WRITES, "namespace"),
    Need(ENDPOINT_SLICES, "", _WRITES, "namespace"),
    Need(NODES, "", _WRITES, "nodes"),
    Need(NODES, "status", _UPDATE, "nodes"),
    Need(LEASES, "", _WRITES, "nodes"),
)


@dataclass(frozen=True, slots=True)
class Backend:
    """The service in front of a webhook's pods; `labels` are those by which it finds them."""

    namespace: str
    name: str
    labels: dict[str, str] = field(compare=False)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    def needs(self, request: AdmissionRequest, labels: dict[str, str]) -> bool:
        """Tell whether a write is one that this backend needs; `labels` are those of the pod it is about."""
        return any(_is(need, request) and self._is_at(need.place, request, labels) for need in NEEDS)

    def _is_at(self, place: Place, request: AdmissionRequest, labels: dict[str, str]) -> bool:
        if place == "nodes":
            return request.namespace in {"", *_LEASE_NAMESPACES}
        if request.namespace != self.namespace:
            return False
        return place == "namespace" or self.labels.items() <= labels.items()

    def first_hindrance(self, webhook: Object, namespace_of: NamespaceOf) -> Need | None:
        """Return the first of the backend's needs that a webhook is asked about."""
        return next((need for need, request in self._examples() if _is_asked(webhook, request, namespace_of)), None)

    def _examples(self) -> Iterator[tuple[Need, AdmissionRequest]]:
        for need in NEEDS:
            meta: Object = {"name": "example"}
            if need.place == "pods":
                meta |= {"namespace": self.namespace, "labels": self.labels}
            elif need.place == "namespace":
                meta["namespace"] = self.namespace
            elif need.resource is LEASES:
                meta["namespace"] = _LEASE_NAMESPACES[0]
            for operation in need.operations:
                yield need, _example(need, operation, {"metadata": meta})


def _is(need: Need, request: AdmissionRequest) -> bool:
    return (
        request.resource.group_resource == need.resource.group_resource
        and request.subresource == need.subresource
        and request.operation in need.operations
    )


def _never(*_: object, **__: object) -> bool:
    return False


def _example(need: Need, operation: Operation, obj: Object) -> AdmissionRequest:
    return AdmissionRequest(
        operation=operation,
        resource=need.resource,
        kind=GroupVersionKind(need.resource.group, need.resource.version, ""),
        subresource=need.subresource,
        namespace=str(obj["metadata"].get("namespace", "")),
        name="example",
        user=LOOPBACK,
        object=obj if operation != "DELETE" else None,
        old_object=obj if operation != "CREATE" else None,
        may=_never,
    )


def _is_asked(webhook: Object, request: AdmissionRequest, namespace_of: NamespaceOf) -> bool:
    """Tell whether a webhook's rules and selectors mean a write; its match conditions are left open."""
    if not any(rule_matches(rule, request) for rule in webhook.get("rules") or ()):
        return False
    try:
        return selectors_match(webhook, request, namespace_of)
    except MatchFailed:
        return True  # the write is refused for that
    except NotFound:
        return False


def pod_labels(request: AdmissionRequest) -> dict[str, str] | None:
    """Return the labels of the pod that a write is about, None when the write itself does not hold them."""
    if request.subresource == "binding":
        return None
    return labels_of(request.object or request.old_object or {})
