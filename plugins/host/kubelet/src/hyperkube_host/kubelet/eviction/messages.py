"""What a pod that has to go is told.

Source: kubernetes ``pkg/kubelet/eviction/helpers.go`` (evictionMessage and the formats).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hyperkube_host.kubelet.eviction.decide import Observations, threshold_amounts
from hyperkube_host.kubelet.eviction.usage import memory_used
from hyperkube_host.kubelet.thresholds import Threshold
from hyperkube_host.kubelet.types.pod_spec import containers_of, init_containers_of

from hyperkube.machinery import quantity
from hyperkube.machinery.field import quote
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.quantity import Quantity

REASON = "Evicted"
"""The reason of the condition DisruptionTarget."""


class EvictionMessage(NamedTuple):
    """The text, and the annotations of its event."""

    text: str
    annotations: dict[str, str]


def node_condition_message(conditions: Iterable[str]) -> str:
    """Return why a pod is not admitted."""
    return f"The node had condition: [{' '.join(sorted(conditions))}]. "


def empty_dir_message(volume: str, limit: str) -> str:
    """Return what is said of a volume that is fuller than it may be."""
    return f"Usage of EmptyDir volume {quote(volume)} exceeds the limit {quote(limit)}. "


def pod_storage_message(limit: str) -> str:
    """Return what is said of a pod whose files take more than all of its containers may."""
    return f"Pod ephemeral local storage usage exceeds the total limit of containers {limit}. "


def container_storage_message(container: str, limit: str) -> str:
    """Return what is said of a container whose files take more than they may."""
    return f"Container {container} exceeded its local ephemeral storage limit {quote(limit)}. "


def eviction_message(
    resource: str, pod: Object, stats: Object | None, thresholds: Iterable[Threshold], observations: Observations
) -> EvictionMessage:
    """Return what a pod is told that has to go because the node is short of something.

    Args:
        resource: what the node is short of.
        pod: the pod.
        stats: its part of the summary, None where nothing is known of it.
        thresholds: those that are met.
        observations: what was measured.
    """
    text = f"The node was low on resource: {resource}. "
    amounts = threshold_amounts(resource, thresholds, observations)
    if amounts is not None:
        wanted, available = (_shown(amount, resource) for amount in amounts)
        text += f"Threshold quantity: {wanted}, available: {available}. "
    if stats is None:
        return EvictionMessage(text, {})
    annotations: dict[str, str] = {}
    request = ((pod["spec"].get("resources") or {}).get("requests") or {}).get(resource)
    if resource == "memory" and request is not None and stats.get("memory"):
        used = _shown(memory_used(stats), resource)
        text += f"Pod {name_of(pod)} was using {used}, request is {request}, has larger consumption of {resource}. "
        annotations |= {"offending_pod": name_of(pod), "offending_pod_usage": used}
    offending = list(_offending(resource, pod, stats))
    for name, used, request in offending:
        text += f"Container {name} was using {used}, request is {request}, has larger consumption of {resource}. "
    annotations |= {
        "offending_containers": ",".join(name for name, _, _ in offending),
        "offending_containers_usage": ",".join(used for _, used, _ in offending),
        "starved_resource": resource,
    }
    return EvictionMessage(text, annotations)


def _offending(resource: str, pod: Object, stats: Object) -> Iterator[tuple[str, str, str]]:
    """Yield name, use and request of the containers that use more than they asked for."""
    known = {container["name"]: container for container in (*containers_of(pod), *init_containers_of(pod))}
    for row in stats.get("containers") or ():
        used, container = _container_use(resource, row), known.get(row.get("name"))
        if used is None or container is None:
            continue
        request = str(((container.get("resources") or {}).get("requests") or {}).get(resource, "0"))
        if used > quantity.parse(request).value():
            yield container["name"], _shown(used, resource), request


def _container_use(resource: str, row: Object) -> int | None:
    if resource == "memory":
        found = (row.get("memory") or {}).get("workingSetBytes")
        return None if found is None else int(found)
    if resource == "ephemeral-storage":
        root, logs = ((row.get(kind) or {}).get("usedBytes") for kind in ("rootfs", "logs"))
        return None if root is None or logs is None else int(root) + int(logs)
    return None


def _shown(amount: int, resource: str) -> str:
    return str(Quantity(amount, 0, "BinarySI" if resource in {"memory", "ephemeral-storage"} else "DecimalSI"))
