"""The services that a pod worker uses. Source: kubernetes ``pkg/kubelet/kubelet.go`` (Kubelet)."""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_host.kubelet.allocation.admission import Admission
from hyperkube_host.kubelet.allocation.allocation_manager import AllocationManager
from hyperkube_host.kubelet.cm.interface import ContainerManager
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.kuberuntime.sandbox import SandboxManager
from hyperkube_host.kubelet.kuberuntime.start_container import ContainerStarter
from hyperkube_host.kubelet.kuberuntime.stop_container import ContainerStopper
from hyperkube_host.kubelet.kuberuntime.termination_message import TerminationMessages
from hyperkube_host.kubelet.prober.prober_manager import ProbeManager
from hyperkube_host.kubelet.status.status_manager import StatusManager
from hyperkube_host.kubelet.volumemanager.volume_manager import VolumeManager

from hyperkube.hookspecs.runtime import Runtime
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record


class WorkerServices(Record):
    """The services that a pod worker uses.

    Attributes:
        volumes: None for a simulated runtime, whose containers read no files.
        keeps_volumes: leave volumes of ended pods mounted until the pods are deleted.
        host_ips: the node's addresses.
        requeue_after: (pod uid, seconds) → sync the pod again then.
        terminated: called with the uid of a pod whose containers have ended for good.
        status_target: pod → the pod of the API that its status is written to.
        network_problem: returns why pods get no network, or the empty string.
        supports_recursive_read_only: tells of a runtime handler's name whether its mounts can be so.
    """

    runtime: Runtime
    clock: Clock
    recorder: KubeletEventRecorder
    admission: Admission
    allocations: AllocationManager
    container_manager: ContainerManager
    volumes: VolumeManager | None
    keeps_volumes: bool
    sandboxes: SandboxManager
    starter: ContainerStarter
    stopper: ContainerStopper
    probes: ProbeManager
    messages: TerminationMessages
    statuses: StatusManager
    host_ips: tuple[str, ...]
    requeue_after: Callable[[str, float], None]
    terminated: Callable[[str], None]
    status_target: Callable[[Object], Object | None]
    network_problem: Callable[[], str]
    supports_recursive_read_only: Callable[[str], bool]
