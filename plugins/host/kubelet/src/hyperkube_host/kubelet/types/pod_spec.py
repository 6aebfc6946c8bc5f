"""The containers of a pod by kind, and when each may run again.

Source: kubernetes ``pkg/kubelet/container/helpers.go`` (ShouldContainerBeRestarted), ``pkg/api/v1/pod/util.go``.
"""

from __future__ import annotations

from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.objects import Object

LEAST_GRACE_SECONDS = 2.0
"""The shortest grace period that a container is given. Kubernetes: ``minimumGracePeriodInSeconds``."""


def containers_of(pod: Object) -> list[Object]:
    """Return the regular containers."""
    found: list[Object] = pod["spec"].get("containers") or []
    return found


def init_containers_of(pod: Object) -> list[Object]:
    """Return the init containers, sidecars among them."""
    found: list[Object] = pod["spec"].get("initContainers") or []
    return found


def ephemeral_containers_of(pod: Object) -> list[Object]:
    """Return the containers that were added to debug the running pod."""
    found: list[Object] = pod["spec"].get("ephemeralContainers") or []
    return found


def all_containers_of(pod: Object) -> list[Object]:
    """Return all containers of any kind."""
    return [*containers_of(pod), *init_containers_of(pod), *ephemeral_containers_of(pod)]


def restart_policy(pod: Object, container: Object) -> str:
    """Return Always, OnFailure or Never for a container."""
    if is_sidecar(container):
        return "Always"
    return str(pod["spec"].get("restartPolicy") or "Always")
