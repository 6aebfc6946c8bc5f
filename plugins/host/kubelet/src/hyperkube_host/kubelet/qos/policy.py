"""The OOM score adjustment of containers: which of them the kernel kills first when the memory of the node runs out.

Source: kubernetes ``pkg/kubelet/qos/policy.go``.
"""

from __future__ import annotations

from hyperkube.kinds.pods import container_resources, is_sidecar, spec_of
from hyperkube.kinds.qos import BEST_EFFORT, GUARANTEED, qos_class
from hyperkube.kinds.resource_lists import read
from hyperkube.machinery.objects import Object, annotations_of

GUARANTEED_OOM_SCORE_ADJ = -997
BEST_EFFORT_OOM_SCORE_ADJ = 1000
_SYSTEM_NODE_CRITICAL = 2_000_001_000
_SYSTEM_CRITICAL = 2_000_000_000
_STATIC_SOURCES = ("file", "http")


def is_critical(pod: Object) -> bool:
    """Tell whether a pod is static, mirrors a static one, or has a priority of the system's."""
    notes = annotations_of(pod)
    if notes.get("kubernetes.io/config.source") in _STATIC_SOURCES or "kubernetes.io/config.mirror" in notes:
        return True
    return int(spec_of(pod).get("priority") or 0) >= _SYSTEM_CRITICAL


def is_node_critical(pod: Object) -> bool:
    """Tell whether a pod has the priority class ``system-node-critical``, and is critical."""
    return is_critical(pod) and int(spec_of(pod).get("priority") or 0) >= _SYSTEM_NODE_CRITICAL


def container_oom_score_adjust(pod: Object, container: Object, memory_capacity: int) -> int:
    """Return the adjustment of a container's OOM score, from -997 (last to be killed) to 1000 (first).

    Args:
        pod: the pod.
        container: one of its containers, of any kind.
        memory_capacity: the bytes of memory that the node has.
    """
    if is_node_critical(pod):
        return GUARANTEED_OOM_SCORE_ADJ
    quality = qos_class(pod)
    if quality == GUARANTEED:
        return GUARANTEED_OOM_SCORE_ADJ
    if quality == BEST_EFFORT:
        return BEST_EFFORT_OOM_SCORE_ADJ
    # A container that asks for a tenth of the memory has 900: once it uses more than that, its score exceeds 1000,
    # and it goes before those that stay within what they asked for.
    remaining = _remaining_request_per_container(pod)
    adjust = 1000 - 1000 * (_memory_request(container) + remaining) // memory_capacity
    if container["name"] in {sidecar["name"] for sidecar in _sidecars(pod)}:
        # Not before the regular container that goes first: what a sidecar does for it, the others need too.
        least = min(map(_memory_request, spec_of(pod).get("containers") or ()), default=0)
        adjust = min(adjust, 1000 - 1000 * (least + remaining) // memory_capacity)
    # Burstable containers go before guaranteed ones, and after those of best effort.
    return min(max(adjust, 1000 + GUARANTEED_OOM_SCORE_ADJ), BEST_EFFORT_OOM_SCORE_ADJ - 1)


def _remaining_request_per_container(pod: Object) -> int:
    """Return each container's share of what the pod as a whole asks for and no container does."""
    memory = read((spec_of(pod).get("resources") or {}).get("requests")).get("memory")
    everyone = [*(spec_of(pod).get("containers") or ()), *_sidecars(pod)]
    if memory is None or not everyone:
        return 0
    return max(memory.value() - sum(map(_memory_request, everyone)), 0) // len(everyone)


def _memory_request(container: Object) -> int:
    memory = container_resources(container, "requests").get("memory")
    return 0 if memory is None else memory.value()


def _sidecars(pod: Object) -> list[Object]:
    return [init for init in spec_of(pod).get("initContainers") or () if is_sidecar(init)]
