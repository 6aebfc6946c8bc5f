"""What a pod requests, in the units of the node table: milli-cpu, bytes, pieces."""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_lib.resized_pods import with_effective_requests

from hyperkube.kinds.pods import pod_requests
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity, parse

BASE_RESOURCES = ("cpu", "memory", "ephemeral-storage", "pods")
"""The first rows of every table."""
DEFAULT_CPU_MILLI = 100
DEFAULT_MEMORY_BYTES = 200 * 1024 * 1024
"""What scoring assumes of a container that requests none; kubernetes ``pkg/scheduler/util/pod_resources.go``."""
_ASSUMED = {"cpu": parse(f"{DEFAULT_CPU_MILLI}m"), "memory": parse(str(DEFAULT_MEMORY_BYTES))}


@dataclass(frozen=True, slots=True)
class Requests:
    """A pod's requests: resource name → amount (``pods`` is 1), and cpu and memory as scoring counts them."""

    amounts: Mapping[str, int]
    non_zero_cpu: int
    non_zero_memory: int


def amount(resource: str, quantity: Quantity) -> int:
    """Return a quantity in the table's unit: milli for cpu, else whole units rounded up."""
    return quantity.milli_value() if resource == "cpu" else quantity.value()


def requests_of(pod: Object) -> Requests:
    """Return what a pod requests, or while it is resized what its node owes it."""
    pod = with_effective_requests(pod)
    amounts = {name: amount(name, quantity) for name, quantity in pod_requests(pod).items()}
    cpu, memory = _non_zero(pod, amounts)
    return Requests({**amounts, "pods": 1}, cpu, memory)


def _non_zero(pod: Object, amounts: Mapping[str, int]) -> tuple[int, int]:
    """Count each container that says nothing of cpu or memory as if it asked for a little; 0 is an answer.

    Source: kubernetes ``pkg/scheduler/framework/types.go`` (getNonMissingContainerRequests).
    """
    assumed = dict(_ASSUMED)
    if (pod.get("spec", {}).get("resources") or {}).get("requests"):
        assumed = {name: quantity for name, quantity in assumed.items() if name not in amounts}
    if not assumed:
        return amounts.get("cpu", 0), amounts.get("memory", 0)
    counted = pod_requests(pod, non_missing=assumed)
    cpu, memory = (amount(name, counted[name]) if name in counted else 0 for name in _ASSUMED)
    return cpu, memory
