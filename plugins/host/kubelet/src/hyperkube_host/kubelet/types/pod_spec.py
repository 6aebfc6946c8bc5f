"""The containers of a pod by kind, and when each may run again.

Source: kubernetes ``pkg/kubelet/container/helpers.go`` (ShouldContainerBeRestarted), ``pkg/api/v1/pod/util.go``
(ContainerShouldRestart, FindMatchingContainerRestartRule).
"""

from __future__ import annotations

from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.objects import Object, metadata

RESTART_ALL_CONTAINERS = "RestartAllContainers"
"""The action of a restart rule."""
LEAST_GRACE_SECONDS = 2.0
"""The shortest grace period that a container is given. Kubernetes: ``minimumGracePeriodInSeconds``."""
DEFAULT_GRACE_SECONDS = 30.0


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


def restartable_init_containers_of(pod: Object) -> list[Object]:
    """Return the sidecars: the init containers that keep running beside the regular ones."""
    return [container for container in init_containers_of(pod) if is_sidecar(container)]


def pod_grace_seconds(pod: Object) -> float:
    """Return how long a pod's containers may take to stop, by its deletion or its spec."""
    seconds = metadata(pod).get("deletionGracePeriodSeconds")
    if seconds is None:
        seconds = pod["spec"].get("terminationGracePeriodSeconds")
    return DEFAULT_GRACE_SECONDS if seconds is None else max(LEAST_GRACE_SECONDS, float(seconds))


def restart_policy(pod: Object, container: Object) -> str:
    """Return Always, OnFailure or Never for a container: its own policy, else that of its pod."""
    return str(container.get("restartPolicy") or pod["spec"].get("restartPolicy") or "Always")


def restart_rule(container: Object, exit_code: int) -> Object | None:
    """Return the first of a container's restart rules that an exit code matches."""
    for rule in container.get("restartPolicyRules") or []:
        codes = rule.get("exitCodes") or {}
        is_listed = exit_code in (codes.get("values") or [])
        if codes.get("operator") in {"In", "NotIn"} and is_listed is (codes["operator"] == "In"):
            return dict(rule)
    return None


def restarts_all(container: Object, exit_code: int) -> bool:
    """Tell whether an exit code of a container restarts all containers of its pod."""
    rule = restart_rule(container, exit_code)
    return rule is not None and rule.get("action") == RESTART_ALL_CONTAINERS


def could_restart_all(pod: Object) -> bool:
    """Tell whether any exit code of any container could restart all containers of the pod."""
    rules = (rule for container in all_containers_of(pod) for rule in container.get("restartPolicyRules") or [])
    return any(rule.get("action") == RESTART_ALL_CONTAINERS for rule in rules)


def should_restart(pod: Object, container: Object, exit_code: int) -> bool:
    """Tell whether a container that exited with this code runs again."""
    if container.get("restartPolicy") and restart_rule(container, exit_code) is not None:
        return True
    policy = restart_policy(pod, container)
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)
