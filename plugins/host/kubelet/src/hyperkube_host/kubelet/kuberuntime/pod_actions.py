"""What to do next for a pod that should run, decided from its spec and from what runs of it.

Source of the rules: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (computePodActions) and
``util/util.go`` (PodSandboxChanged).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field

from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.container.restart import should_be_started
from hyperkube_host.kubelet.kuberuntime.kill_reason import ContainerToKill, definition_changed, unknown_state
from hyperkube_host.kubelet.prober.probe_type import ProbeType
from hyperkube_host.kubelet.types.pod_spec import (
    containers_of,
    ephemeral_containers_of,
    init_containers_of,
    restart_policy,
    restartable_init_containers_of,
    restarts_all,
)

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, SandboxStatus
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

__all__ = ["ContainerToKill", "PodActions", "compute_pod_actions", "compute_reset", "stop_order"]


@dataclass(frozen=True, slots=True)
class ContainerToReset:
    """A container to remove because all containers of its pod start anew; `kill` stops it before."""

    status: ContainerStatus
    kill: bool


@dataclass(frozen=True, slots=True)
class PodActions:
    """What to do, in this order: stop all of the pod, or single containers; create a sandbox; start containers.

    Attributes:
        kill_pod: stop all containers and the sandbox.
        create_sandbox: create a new sandbox; what was started in the old one is gone.
        attempt: the number of the new sandbox.
        kills: containers to stop.
        starts: containers to start, in this order.
    """

    kill_pod: bool = False
    create_sandbox: bool = False
    attempt: int = 0
    kills: tuple[ContainerToKill, ...] = ()
    starts: tuple[Object, ...] = ()


@dataclass(slots=True)
class _Decisions:
    """The decisions on regular containers, as they are made one by one."""

    kills: list[ContainerToKill] = field(default_factory=list)
    starts: list[Object] = field(default_factory=list)
    keeps: int = 0


def compute_pod_actions(
    pod: Object,
    pod_status: PodStatus,
    *,
    failed_probes: Mapping[str, ProbeType],
    is_started: Callable[[str], bool],
    resize_restarts: Sequence[ContainerToKill] = (),
) -> PodActions:
    """Return the next actions.

    Args:
        pod: the pod that should run.
        pod_status: its sandboxes and containers in the runtime.
        failed_probes: container id → the probe whose failures require a restart of the container.
        is_started: tells of a running container's id whether its startup probe has passed.
        resize_restarts: running containers that get new resources by a restart.
    """
    if is_sandbox_changed(pod_status.sandboxes):
        return _actions_without_sandbox(pod, pod_status)
    starts = [entry for entry in ephemeral_containers_of(pod) if pod_status.latest(entry["name"]) is None]
    kills: list[ContainerToKill] = []
    if init_containers_of(pod):
        from hyperkube_host.kubelet.kuberuntime.init_container_actions import decide_init_containers

        init = decide_init_containers(pod, pod_status, failed_probes, is_started)
        if init.failed:
            return PodActions(kill_pod=True)
        starts += init.starts
        kills += init.kills
        if not init.initialized:
            return PodActions(kills=tuple(kills), starts=tuple(starts))
    regular = _Decisions()
    for container in containers_of(pod):
        _decide_container(pod, container, pod_status.latest(container["name"]), regular, failed_probes)
    if not regular.keeps and not regular.starts:
        # Sidecars alone do not keep a pod alive.
        return PodActions(kill_pod=True)
    kills += regular.kills
    starts += regular.starts
    stopped = {kill.status.id for kill in kills}
    for kill in (one for one in resize_restarts if one.status.id not in stopped):
        kills.append(kill)
        starts += [one for one in (*init_containers_of(pod), *containers_of(pod)) if one["name"] == kill.status.name]
    return PodActions(kills=tuple(kills), starts=tuple(starts))


def is_sandbox_changed(sandboxes: Iterable[SandboxStatus]) -> bool:
    """Tell whether a pod needs a new sandbox: it has none, the newest is not ready, or several are."""
    listed = list(sandboxes)
    return not listed or not listed[0].ready or sum(sandbox.ready for sandbox in listed) > 1


def _actions_without_sandbox(pod: Object, pod_status: PodStatus) -> PodActions:
    """Start in a new sandbox, if anything is left to run."""
    attempt = pod_status.sandbox.attempt + 1 if pod_status.sandbox is not None else 0
    never = pod["spec"].get("restartPolicy") == "Never"
    if never and attempt and pod_status.containers:
        return PodActions(kill_pod=True)
    left = [container for container in containers_of(pod) if not _has_completed(pod, container, pod_status)]
    if not left and _has_created_any(pod, pod_status):
        return PodActions(kill_pod=True)
    init = init_containers_of(pod)
    kill = pod_status.sandbox is not None
    return PodActions(kill_pod=kill, create_sandbox=True, attempt=attempt, starts=tuple(init[:1] if init else left))


def _has_completed(pod: Object, container: Object, pod_status: PodStatus) -> bool:
    """Tell whether a container that runs until it succeeds has done so."""
    status = pod_status.latest(container["name"])
    ended = status is not None and status.state == ContainerState.EXITED and status.exit_code == 0
    return ended and restart_policy(pod, container) == "OnFailure"


def _has_created_any(pod: Object, pod_status: PodStatus) -> bool:
    statuses = (pod_status.latest(container["name"]) for container in containers_of(pod))
    return any(status is not None and status.state != ContainerState.UNKNOWN for status in statuses)


def _decide_container(
    pod: Object,
    container: Object,
    status: ContainerStatus | None,
    decisions: _Decisions,
    failed_probes: Mapping[str, ProbeType],
) -> None:
    """Decide on one regular container."""
    if status is None or status.state != ContainerState.RUNNING:
        if should_be_started(pod, container, status):
            decisions.starts.append(container)
            if status is not None and status.state == ContainerState.UNKNOWN:
                # It may run in spite of what is known of it: two of them must not run side by side.
                decisions.kills.append(unknown_state(status, "Container"))
        return
    name = container["name"]
    restarts = restart_policy(pod, container) != "Never"
    probe = failed_probes.get(status.id)
    if definition_changed(container, status):
        message, restarts = f"Container {name} definition changed", True
    elif probe:
        message = f"Container {name} failed {probe.value} probe"
    else:
        decisions.keeps += 1
        return
    decisions.kills.append(ContainerToKill(status, message + (", will be restarted" if restarts else ""), probe))
    if restarts:
        decisions.starts.append(container)


def compute_reset(pod: Object, pod_status: PodStatus) -> tuple[ContainerToReset, ...]:
    """Return the containers to remove when one of them asked for a restart of all.

    Those whose exit asked for it come last: as long as one of them is left, the restart is not over.
    """
    sources: list[ContainerToReset] = []
    targets: list[ContainerToReset] = []
    for container in (*init_containers_of(pod), *containers_of(pod)):
        for status in pod_status.containers.get(container["name"], ()):
            ended = status.state == ContainerState.EXITED
            found = sources if ended and restarts_all(container, status.exit_code) else targets
            found.append(ContainerToReset(status, kill=not ended))
    return (*targets, *sources)


def stop_order(pod: Object, running: Iterable[ContainerStatus]) -> list[list[ContainerStatus]]:
    """Return the containers to stop in steps: all regular ones at once, then the sidecars, last one first."""
    sidecars = [container["name"] for container in restartable_init_containers_of(pod)]
    statuses = list(running)
    steps = [[status for status in statuses if status.name not in sidecars]]
    steps += [[status for status in statuses if status.name == name] for name in reversed(sidecars)]
    return [step for step in steps if step]
