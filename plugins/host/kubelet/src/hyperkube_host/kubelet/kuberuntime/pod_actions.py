"""What to do next for a pod that should run, decided from its spec and from what runs of it.

Source of the rules: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (computePodActions) and
``kuberuntime_container.go`` (init containers and sidecars).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.prober.probe_type import ProbeType
from hyperkube_host.kubelet.types.labels import CONTAINER_HASH, container_hash
from hyperkube_host.kubelet.types.pod_spec import (
    containers_of,
    ephemeral_containers_of,
    init_containers_of,
    restart_policy,
)

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus
from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object


@dataclass(frozen=True, slots=True)
class ContainerToKill:
    """A running container to stop, with the text of the Killing event."""

    status: ContainerStatus
    message: str


@dataclass(frozen=True, slots=True)
class PodActions:
    """What to do, in this order: end the pod, or stop containers, create a new sandbox, start containers."""

    kill_pod: bool = False
    create_sandbox: bool = False
    attempt: int = 0
    kills: tuple[ContainerToKill, ...] = ()
    starts: tuple[Object, ...] = ()


def should_start(pod: Object, container: Object, status: ContainerStatus | None) -> bool:
    """Tell whether a container that does not run should: it never ran, or its restart policy lets it run again."""
    if status is None or status.state in {ContainerState.CREATED, ContainerState.UNKNOWN}:
        return True
    if status.state == ContainerState.RUNNING:
        return False
    policy = restart_policy(pod, container)
    return policy == "Always" or (policy == "OnFailure" and status.exit_code != 0)


@dataclass(slots=True)
class _ContainerActions:
    """The decisions on containers, as they are made one by one."""

    kills: list[ContainerToKill] = field(default_factory=list)
    starts: list[Object] = field(default_factory=list)
    keeps: int = 0
    failed: bool = False


def compute_pod_actions(
    pod: Object,
    pod_status: PodStatus,
    *,
    failed_probes: Mapping[str, ProbeType],
    is_started: Callable[[str], bool],
) -> PodActions:
    """Return the next actions.

    Args:
        pod: the pod that should run.
        pod_status: its sandboxes and containers in the runtime.
        failed_probes: container id → the probe whose failures require a restart of the container.
        is_started: tells of a running container's id whether its startup probe has passed.
    """
    if pod_status.ready_sandbox is None:
        return _actions_without_sandbox(pod, pod_status)
    actions = _ContainerActions()
    initialized = _decide_init_containers(pod, pod_status, actions, failed_probes, is_started)
    if actions.failed:
        return PodActions(kill_pod=True)
    if initialized:
        regular = _ContainerActions()
        for container in containers_of(pod):
            _decide_container(pod, container, pod_status.latest(container["name"]), regular, failed_probes)
        if not regular.keeps and not regular.starts:
            return PodActions(kill_pod=True)
        actions.kills += regular.kills
        actions.starts += regular.starts
    actions.starts += [entry for entry in ephemeral_containers_of(pod) if pod_status.latest(entry["name"]) is None]
    return PodActions(kills=tuple(actions.kills), starts=tuple(actions.starts))


def _actions_without_sandbox(pod: Object, pod_status: PodStatus) -> PodActions:
    """Start in a new sandbox, if anything is left to run."""
    attempt = pod_status.sandbox.attempt + 1 if pod_status.sandbox is not None else 0
    left = [c for c in containers_of(pod) if should_start(pod, c, _as_ended(pod_status.latest(c["name"])))]
    never = pod["spec"].get("restartPolicy") == "Never"
    if not left or (never and any(pod_status.latest(c["name"]) for c in containers_of(pod))):
        return PodActions(kill_pod=True)
    init = init_containers_of(pod)
    return PodActions(create_sandbox=True, attempt=attempt, starts=tuple(init[:1] if init else left))


def _as_ended(status: ContainerStatus | None) -> ContainerStatus | None:
    """A container in a sandbox that is gone cannot run, whatever the runtime says."""
    return None if status is not None and status.state != ContainerState.EXITED else status


def _decide_init_containers(
    pod: Object,
    pod_status: PodStatus,
    actions: _ContainerActions,
    failed_probes: Mapping[str, ProbeType],
    is_started: Callable[[str], bool],
) -> bool:
    """Decide on the init containers; tell whether the regular ones may run."""
    regular_ran = any(_in_sandbox(pod_status, container["name"]) for container in containers_of(pod))
    for container in init_containers_of(pod):
        status = _current(pod_status, container["name"])
        if is_sidecar(container):
            _decide_container(pod, container, status, actions, failed_probes)
            running = status is not None and status.state == ContainerState.RUNNING and is_started(status.id)
            if not running and not regular_ran:
                return False
            continue
        if regular_ran:
            continue
        if status is None or status.state in {ContainerState.CREATED, ContainerState.UNKNOWN}:
            actions.starts.append(container)
            return False
        if status.state == ContainerState.RUNNING:
            return False
        if status.exit_code != 0:
            if pod["spec"].get("restartPolicy") == "Never":
                actions.failed = True
            else:
                actions.starts.append(container)
            return False
    return True


def _current(pod_status: PodStatus, name: str) -> ContainerStatus | None:
    """Return the newest container of the name if it lives in the present sandbox: init runs once per sandbox."""
    status = pod_status.latest(name)
    sandbox = pod_status.ready_sandbox
    return status if status is not None and sandbox is not None and status.sandbox_id == sandbox.id else None


def _in_sandbox(pod_status: PodStatus, name: str) -> bool:
    return _current(pod_status, name) is not None


def _decide_container(
    pod: Object,
    container: Object,
    status: ContainerStatus | None,
    actions: _ContainerActions,
    failed_probes: Mapping[str, ProbeType],
) -> None:
    """Decide on one container that may run now."""
    if status is None or status.state != ContainerState.RUNNING:
        if should_start(pod, container, status):
            actions.starts.append(container)
        return
    name = container["name"]
    restarts = restart_policy(pod, container) != "Never"
    changed = status.annotations.get(CONTAINER_HASH) not in {None, container_hash(container)}
    probe = failed_probes.get(status.id)
    if changed:
        message, restarts = f"Container {name} definition changed", True
    elif probe:
        message = f"Container {name} failed {probe.value} probe"
    else:
        actions.keeps += 1
        return
    actions.kills.append(ContainerToKill(status, message + (", will be restarted" if restarts else "")))
    if restarts:
        actions.starts.append(container)
        actions.keeps += 1


def stop_order(pod: Object, running: Iterable[ContainerStatus]) -> list[list[ContainerStatus]]:
    """Return the containers to stop in steps: all regular ones at once, then the sidecars, last one first."""
    sidecars = [container["name"] for container in init_containers_of(pod) if is_sidecar(container)]
    statuses = list(running)
    steps = [[status for status in statuses if status.name not in sidecars]]
    steps += [[status for status in statuses if status.name == name] for name in reversed(sidecars)]
    return [step for step in steps if step]
