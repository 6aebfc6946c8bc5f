"""Admission of a pod by the node itself: resources, selector and host ports, checked again after the scheduler.

Source: kubernetes ``pkg/kubelet/lifecycle/predicate.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hyperkube_host.kubelet.types.pod_spec import containers_of
from hyperkube_host.kubelet.types.pod_status import Failure

from hyperkube.kinds.pods import pod_requests
from hyperkube.machinery.objects import Object, labels_of, uid_of
from hyperkube.machinery.quantity import Quantity, parse


def _amount(resource: str, quantity: Quantity) -> int:
    return quantity.milli_value() if resource == "cpu" else quantity.value()


def requests_of(pod: Object) -> dict[str, int]:
    """Return the resources that a pod requests, cpu in thousandths of a core."""
    return {name: _amount(name, quantity) for name, quantity in pod_requests(pod).items()}


class PodAdmission:
    """Decides on new pods, given the node and the pods that run on it."""

    def __init__(self, node: Callable[[], Object], others: Callable[[], Iterable[Object]]) -> None:
        """Take functions that return the node and its running pods as they are now."""
        self._node = node
        self._others = others

    def check(self, pod: Object) -> Failure | None:
        """Return why the pod cannot run here, or None."""
        node = self._node()
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        others = [other for other in self._others() if uid_of(other) != uid_of(pod)]
        capacity = int(str(allocatable.get("pods", 110)))
        if len(others) + 1 > capacity:
            return _insufficient("pods", 1, len(others), capacity)
        used: dict[str, int] = {}
        for other in others:
            for resource, amount in requests_of(other).items():
                used[resource] = used.get(resource, 0) + amount
        for resource, wanted in requests_of(pod).items():
            have = _amount(resource, parse(str(allocatable.get(resource, 0))))
            if wanted and used.get(resource, 0) + wanted > have:
                return _insufficient(resource, wanted, used.get(resource, 0), have)
        selector = pod["spec"].get("nodeSelector") or {}
        labels = labels_of(node)
        if any(labels.get(key) != value for key, value in selector.items()):
            text = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
            return Failure("NodeAffinity", text)
        return self._host_ports(pod, others)

    def _host_ports(self, pod: Object, others: Iterable[Object]) -> Failure | None:
        taken = {port for other in others for port in _host_ports(other)}
        if any(port in taken for port in _host_ports(pod)):
            text = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
            return Failure("NodePorts", text)
        return None


def _insufficient(resource: str, requested: int, used: int, capacity: int) -> Failure:
    numbers = f"requested: {requested}, used: {used}, capacity: {capacity}"
    return Failure(f"OutOf{resource}", f"Node didn't have enough resource: {resource}, {numbers}")


def _host_ports(pod: Object) -> list[tuple[str, int]]:
    return [
        (port.get("protocol") or "TCP", int(port["hostPort"]))
        for container in containers_of(pod)
        for port in container.get("ports") or []
        if port.get("hostPort")
    ]
