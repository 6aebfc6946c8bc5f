"""The inputs of a pod's status. Source: kubernetes ``pkg/kubelet/kubelet_pods.go`` (generateAPIPodStatus)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime

from hyperkube_host.kubelet.container.pod_status import NO_STATUS, PodStatus
from hyperkube_host.kubelet.types.pod_status import Failure, Waiting

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object


def _no() -> bool:
    return False


def _never(_container_id: str) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusInput:
    """The inputs of a pod's status, beside the pod.

    Attributes:
        pod_status: the pod's sandboxes and containers in the runtime.
        waiting: container name → why its last start failed.
        messages: container id → termination message.
        is_ready, is_started: probe results of running containers, by container id.
        is_terminal: all containers have ended for good and none will be started again.
        could_run: containers may be running: the pod is not reported as ended yet.
        restarts_all: all containers are being removed, to start anew.
        is_restarting_all: they were, as the status that was reported last tells.
        failure: the reason and message of a pod that the kubelet itself gave up.
        disruption: the condition of a pod that has to make room.
        resize_conditions: the conditions of an in-place resize.
        host_ips: the node's addresses.
        runtime_name: the scheme of container ids.
        supports_recursive_read_only: tells whether the pod's runtime handler does.
        now: for conditions that change.
    """

    pod_status: PodStatus = NO_STATUS
    waiting: Mapping[str, Waiting] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    is_ready: Callable[[str], bool] = _never
    is_started: Callable[[str], bool] = _never
    is_terminal: bool = False
    could_run: bool = False
    restarts_all: bool = False
    is_restarting_all: bool = False
    failure: Failure | None = None
    disruption: Object | None = None
    resize_conditions: Sequence[Object] = ()
    host_ips: Sequence[str] = ()
    runtime_name: str = ""
    supports_recursive_read_only: Callable[[], bool] = _no
    now: datetime
