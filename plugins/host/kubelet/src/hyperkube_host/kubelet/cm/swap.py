"""What a container may swap.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container_linux.go`` (swapConfigurationHelper).
"""

from __future__ import annotations

from pathlib import Path

from hyperkube_host.kubelet.cm.interface import CriMessage
from hyperkube_host.kubelet.cm.options import LIMITED_SWAP
from hyperkube_host.kubelet.qos.policy import is_critical

from hyperkube.kinds.pods import container_resources
from hyperkube.kinds.qos import BURSTABLE, qos_class
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record

SWAPS = Path("/proc/swaps")
MEM_INFO = Path("/proc/meminfo")
_SWAP_MAX = "memory.swap.max"


class SwapSettings(Record):
    """What the machine has to swap with.

    Attributes:
        behavior: ``NoSwap`` or ``LimitedSwap``.
        cgroup_version: 1 or 2.
        memory: bytes of the machine.
        swap: bytes of swap space.
    """

    behavior: str
    cgroup_version: int
    memory: int
    swap: int


def swap_resources(pod: Object, container: Object, settings: SwapSettings, memory_limit: int) -> CriMessage:
    """Return the fields of ``LinuxContainerResources`` that say how much a container may swap.

    Args:
        pod: the pod.
        container: one of its containers.
        settings: the node's.
        memory_limit: the container's limit of memory in bytes, 0 for none.
    """
    if settings.cgroup_version == 1:
        # Memory and swap together: a container does not swap beyond its memory.
        return {"memory_swap_limit_in_bytes": memory_limit} if memory_limit else {}
    return {"unified": {_SWAP_MAX: str(_swap_limit(pod, container, settings))}}


def _swap_limit(pod: Object, container: Object, settings: SwapSettings) -> int:
    """Return the bytes that a container may swap: its share of the swap space is that of the memory it asks for."""
    if settings.behavior != LIMITED_SWAP or qos_class(pod) != BURSTABLE or is_critical(pod):
        return 0
    request = container_resources(container, "requests").get("memory")
    if not request or request == container_resources(container, "limits").get("memory"):
        return 0
    return int(request.value() / settings.memory * settings.swap) if settings.memory else 0


def swap_space(file: Path = MEM_INFO) -> int:
    """Return the bytes of swap space that the machine has."""
    for line in file.read_text().splitlines():
        if line.startswith("SwapTotal:"):
            return int(line.split()[1]) << 10
    return 0


def check_swap(*, fail_swap_on: bool, file: Path = SWAPS) -> None:
    """Refuse a machine that swaps, unless that is wanted.

    Raises:
        UsageError: swap space is in use.
    """
    lines = file.read_text().splitlines()[1:] if file.is_file() else []
    used = [line.split()[0] for line in lines if line.strip()]
    if fail_swap_on and used:
        raise UsageError(
            "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"
            f" ({', '.join(used)})"
        )
