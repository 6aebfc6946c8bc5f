"""Why a running container of a pod that goes on is stopped.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (containerToKillInfo, containerChanged).
"""

from __future__ import annotations

from hyperkube_host.kubelet.prober.probe_type import ProbeType
from hyperkube_host.kubelet.types.labels import CONTAINER_HASH, container_hash

from hyperkube.hookspecs.runtime import ContainerStatus
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object


@dataclass(frozen=True, slots=True)
class ContainerToKill:
    """A container to stop, the text of the Killing event, and the probe that failed, if one did.

    A liveness or startup probe may bring a grace period of its own.
    """

    status: ContainerStatus
    message: str
    probe: ProbeType | None = None


def definition_changed(container: Object, status: ContainerStatus) -> bool:
    """Tell whether a container runs that the spec no longer asks for: another image."""
    return status.annotations.get(CONTAINER_HASH) not in {None, container_hash(container)}


def unknown_state(status: ContainerStatus, kind: str) -> ContainerToKill:
    """Return the stop of a container that may still run, as its state is unknown."""
    return ContainerToKill(status, f'{kind} is in "{status.state}" state, try killing it before restart')
