"""Admission of a pod by the node itself: resources, affinity, name, ports and taints, checked after the scheduler.

Sources: kubernetes ``pkg/kubelet/lifecycle/predicate.go``, ``pkg/scheduler/scheduler.go`` (AdmissionCheck).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from hyperkube_host.kubelet.types.pod_status import Failure
from hyperkube_host.kubelet.types.pod_update import is_static

from hyperkube.kinds.node_selectors import fits_required_affinity
from hyperkube.kinds.pods import host_ports, host_ports_conflict, pod_requests, spec_of
from hyperkube.kinds.resource_lists import ResourceList, add, is_extended, read
from hyperkube.kinds.taints import NO_EXECUTE, untolerated
from hyperkube.machinery.objects import Object, labels_of, name_of, uid_of
from hyperkube.machinery.quantity import Quantity

_PODS = 110
_FIRST = ("cpu", "memory", "ephemeral-storage")
"""These are compared first, the others by name."""
_NONE = Quantity(0)


class PodAdmission:
    """Decides on new pods, given the node and the pods that run on it."""

    def __init__(self, node: Callable[[], Object], others: Callable[[], Iterable[Object]]) -> None:
        """Take functions that return the node and its running pods as they are now."""
        self._node = node
        self._others = others

    def node(self) -> Object:
        """Return the node as it is now."""
        return self._node()

    def check(self, pod: Object) -> Failure | None:
        """Return why the pod cannot run here, or None."""
        node = self._node()
        others = [other for other in self._others() if uid_of(other) != uid_of(pod)]
        return _wrong_system(pod, node) or _short_of(pod, others, node) or _misplaced(pod, others, node)

    def missing(self, pod: Object) -> dict[str, int]:
        """Return resource → how much of it the node has too little, for a pod that it could run otherwise."""
        node = self._node()
        others = [other for other in self._others() if uid_of(other) != uid_of(pod)]
        if _wrong_system(pod, node) or _misplaced(pod, others, node):
            return {}
        return {short.resource: short.missing for short in _shortages(pod, others, node)}


class _Shortage(NamedTuple):
    """A resource of which the node has too little; CPU in thousandths."""

    resource: str
    requested: int
    used: int
    capacity: int

    @property
    def missing(self) -> int:
        """How much would have to be added."""
        return self.requested + self.used - self.capacity

    @property
    def failure(self) -> Failure:
        """The failure that tells of it."""
        numbers = f"requested: {self.requested}, used: {self.used}, capacity: {self.capacity}"
        text = f"Node didn't have enough resource: {self.resource}, {numbers}"
        return Failure(f"OutOf{self.resource}", text)


def _wrong_system(pod: Object, node: Object) -> Failure | None:
    """Return the failure of a pod for another operating system."""
    own = ((node.get("status") or {}).get("nodeInfo") or {}).get("operatingSystem") or "linux"
    labels = spec_of(pod).get("nodeSelector") or {}
    if labels.get("kubernetes.io/os") not in {None, own}:
        text = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"
        return Failure("PodOSSelectorNodeLabelDoesNotMatch", text)
    if (spec_of(pod).get("os") or {}).get("name") not in {None, "", own}:
        return Failure("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS")
    return None


def _short_of(pod: Object, others: Sequence[Object], node: Object) -> Failure | None:
    """Return the failure for the first resource that the node has too little of."""
    return next((short.failure for short in _shortages(pod, others, node)), None)


def _shortages(pod: Object, others: Sequence[Object], node: Object) -> Iterator[_Shortage]:
    """Yield what the node has too little of."""
    allocatable = read((node.get("status") or {}).get("allocatable"))
    capacity = allocatable["pods"].value() if "pods" in allocatable else _PODS
    if len(others) + 1 > capacity:
        yield _Shortage("pods", 1, len(others), capacity)
    used: ResourceList = {}
    for other in others:
        add(used, pod_requests(other))
    wanted = pod_requests(pod)
    for resource in (*_FIRST, *sorted(wanted.keys() - set(_FIRST))):
        if is_extended(resource) and resource not in allocatable:
            continue  # what is counted for the whole cluster is none of the node's
        asked, taken, has = (amounts.get(resource, _NONE) for amounts in (wanted, used, allocatable))
        if asked.sign > 0 and taken + asked > has:
            numbers = (_number(resource, amount) for amount in (asked, taken, has))
            yield _Shortage(resource, *numbers)


def _misplaced(pod: Object, others: Sequence[Object], node: Object) -> Failure | None:
    """Return the failure for the first predicate that the node does not satisfy."""
    spec = spec_of(pod)
    if not fits_required_affinity(spec, name_of(node), labels_of(node)):
        return _failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
    if spec.get("nodeName") and spec["nodeName"] != name_of(node):
        return _failed("NodeName", "node(s) didn't match the requested node name")
    taken = [port for other in others for port in host_ports(other)]
    if host_ports_conflict(host_ports(pod), taken):
        return _failed("NodePorts", "node(s) didn't have free ports for the requested pod ports")
    tainted = spec_of(node).get("taints") or ()
    if not is_static(pod) and untolerated(tainted, spec.get("tolerations") or (), _evicts) is not None:
        return _failed("TaintToleration", "node(s) had taints that the pod didn't tolerate")
    return None


def _evicts(taint: Object) -> bool:
    return taint.get("effect") == NO_EXECUTE


def _failed(predicate: str, why: str) -> Failure:
    return Failure(predicate, f"Predicate {predicate} failed: {why}")


def _number(resource: str, amount: Quantity) -> int:
    return amount.milli_value() if resource == "cpu" else amount.value()
