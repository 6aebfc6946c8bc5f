"""Whether the node takes a pod in: resources, selector, name and taints, decided again by the node itself.

Source: kubernetes ``pkg/kubelet/lifecycle/predicate.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hyperkube_host.kubelet.plan import containers_of, init_containers_of

from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery import quantity
from hyperkube.machinery.objects import Object, labels_of, uid_of

Refusal = tuple[str, str]


def _amount(resource: str, value: object) -> int:
    parsed = quantity.parse(str(value))
    return parsed.milli_value() if resource == "cpu" else parsed.value()


def requests_of(pod: Object) -> dict[str, int]:
    """Return what a pod asks for, cpu in thousandths, with init containers and overhead as Kubernetes counts them."""
    total: dict[str, int] = {}
    for container in containers_of(pod):
        _add(total, _requests(container))
    sidecars: dict[str, int] = {}
    most: dict[str, int] = {}
    for container in init_containers_of(pod):
        wanted = _requests(container)
        if is_sidecar(container):
            _add(total, wanted)
            _add(sidecars, wanted)
            wanted = dict(sidecars)
        else:
            wanted = {key: wanted.get(key, 0) + sidecars.get(key, 0) for key in {*wanted, *sidecars}}
        most = {key: max(most.get(key, 0), wanted.get(key, 0)) for key in {*most, *wanted}}
    total = {key: max(total.get(key, 0), most.get(key, 0)) for key in {*total, *most}}
    _add(total, {key: _amount(key, value) for key, value in (pod["spec"].get("overhead") or {}).items()})
    return total


def _requests(container: Object) -> dict[str, int]:
    resources = container.get("resources") or {}
    wanted = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {key: _amount(key, value) for key, value in wanted.items()}


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for key, value in more.items():
        total[key] = total.get(key, 0) + value


class Admission:
    """Decides on new pods, given the node and the pods that run on it."""

    def __init__(self, node: Callable[[], Object], others: Callable[[], Iterable[Object]]) -> None:
        """Take functions for the node as it is now and for the pods that it runs."""
        self._node = node
        self._others = others

    def check(self, pod: Object) -> Refusal | None:
        """Return why the pod cannot run here, as (reason, message), or None."""
        node = self._node()
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        others = [other for other in self._others() if uid_of(other) != uid_of(pod)]
        capacity = int(str(allocatable.get("pods", 110)))
        if len(others) + 1 > capacity:
            return "OutOfpods", _short("pods", 1, len(others), capacity)
        used: dict[str, int] = {}
        for other in others:
            _add(used, requests_of(other))
        for resource, wanted in requests_of(pod).items():
            have = _amount(resource, allocatable.get(resource, 0))
            if wanted and used.get(resource, 0) + wanted > have:
                return f"OutOf{resource}", _short(resource, wanted, used.get(resource, 0), have)
        selector = pod["spec"].get("nodeSelector") or {}
        labels = labels_of(node)
        if any(labels.get(key) != value for key, value in selector.items()):
            text = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
            return "NodeAffinity", text
        return self._host_ports(pod, others)

    def _host_ports(self, pod: Object, others: Iterable[Object]) -> Refusal | None:
        taken = {port for other in others for port in _host_ports(other)}
        if any(port in taken for port in _host_ports(pod)):
            text = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
            return "NodePorts", text
        return None


def _short(resource: str, requested: int, used: int, capacity: int) -> str:
    numbers = f"requested: {requested}, used: {used}, capacity: {capacity}"
    return f"Node didn't have enough resource: {resource}, {numbers}"


def _host_ports(pod: Object) -> list[tuple[str, int]]:
    return [
        (port.get("protocol") or "TCP", int(port["hostPort"]))
        for container in containers_of(pod)
        for port in container.get("ports") or []
        if port.get("hostPort")
    ]
