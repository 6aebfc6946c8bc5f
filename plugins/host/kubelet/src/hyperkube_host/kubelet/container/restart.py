"""Whether a container that does not run is to be started.

Source: kubernetes ``pkg/kubelet/container/helpers.go`` (ShouldContainerBeRestarted).
"""

from __future__ import annotations

from hyperkube_host.kubelet.types.pod_spec import should_restart

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus
from hyperkube.machinery.objects import Object, is_being_deleted


def should_be_started(pod: Object, container: Object, status: ContainerStatus | None) -> bool:
    """Tell whether a container that does not run should: it never ran, or its restart policy lets it run again."""
    if is_being_deleted(pod):
        return False
    if status is None or status.state in {ContainerState.CREATED, ContainerState.UNKNOWN}:
        return True
    return status.state != ContainerState.RUNNING and should_restart(pod, container, status.exit_code)
