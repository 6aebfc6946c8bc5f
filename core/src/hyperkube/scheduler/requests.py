"""What a pod requests, in the units of the node table: milli-cpu, bytes, pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperkube.kinds.pods import container_resources, containers, is_sidecar, pod_requests
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity

BASE_RESOURCES = ("cpu", "memory", "ephemeral-storage", "pods")
"""The first rows of every table."""
DEFAULT_CPU_MILLI = 100
DEFAULT_MEMORY_BYTES = 200 * 1024 * 1024
"""What scoring assumes of a container that requests none; kubernetes ``pkg/scheduler/util/pod_resources.go``."""


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
    """Return what a pod requests."""
    amounts = {name: amount(name, quantity) for name, quantity in pod_requests(pod).items()}
    cpu, memory = _non_zero(pod, amounts)
    return Requests({**amounts, "pods": 1}, cpu, memory)


def _non_zero(pod: Object, amounts: Mapping[str, int]) -> tuple[int, int]:
    """Add the defaults for each running container that requests no cpu or no memory."""
    spec = pod.get("spec", {})
    if (spec.get("resources") or {}).get("requests"):
        return amounts.get("cpu", 0) or DEFAULT_CPU_MILLI, amounts.get("memory", 0) or DEFAULT_MEMORY_BYTES
    cpu, memory = amounts.get("cpu", 0), amounts.get("memory", 0)
    init = {container["name"] for container in spec.get("initContainers") or () if not is_sidecar(container)}
    for container in containers(pod):
        if container["name"] in init:
            continue
        requested = container_resources(container, "requests")
        cpu += 0 if requested.get("cpu") else DEFAULT_CPU_MILLI
        memory += 0 if requested.get("memory") else DEFAULT_MEMORY_BYTES
    return cpu, memory
