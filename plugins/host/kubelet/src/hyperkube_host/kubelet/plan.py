"""What to do next for a pod that shall run, decided from its spec and from what runs of it.

Source of the rules: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (computePodActions) and
``kuberuntime_container.go`` (init containers and sidecars).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from hyperkube_host.kubelet.observation import CONTAINER_HASH, Observed, container_hash

from hyperkube.hookspecs.runtime import ContainerStatus
from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.objects import Object


@dataclass(frozen=True, slots=True)
class Kill:
    """A running container to stop, with the text of the Killing event; `again` when it is started anew after."""

    status: ContainerStatus
    message: str
    again: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, in this order: end the pod, or stop containers, renew the sandbox, start containers."""

    kill_pod: bool = False
    create_sandbox: bool = False
    attempt: int = 0
    kills: tuple[Kill, ...] = ()
    starts: tuple[Object, ...] = ()


def containers_of(pod: Object) -> list[Object]:
    """Return the regular containers."""
    found: list[Object] = pod["spec"].get("containers") or []
    return found


def init_containers_of(pod: Object) -> list[Object]:
    """Return the init containers, sidecars among them."""
    found: list[Object] = pod["spec"].get("initContainers") or []
    return found


def ephemeral_containers_of(pod: Object) -> list[Object]:
    """Return the containers that somebody added to look into the running pod."""
    found: list[Object] = pod["spec"].get("ephemeralContainers") or []
    return found


def every_container_of(pod: Object) -> list[Object]:
    """Return all containers of any kind."""
    return [*containers_of(pod), *init_containers_of(pod), *ephemeral_containers_of(pod)]


def restart_policy(pod: Object, container: Object) -> str:
    """Return Always, OnFailure or Never for a container."""
    if is_sidecar(container):
        return "Always"
    return str(pod["spec"].get("restartPolicy") or "Always")


def should_start(pod: Object, container: Object, status: ContainerStatus | None) -> bool:
    """Tell whether a container that does not run shall: it never ran, or its pod's policy lets it run again."""
    if status is None or status.state in {"created", "unknown"}:
        return True
    if status.state == "running":
        return False
    policy = restart_policy(pod, container)
    return policy == "Always" or (policy == "OnFailure" and status.exit_code != 0)


@dataclass(slots=True)
class _Draft:
    kills: list[Kill] = field(default_factory=list)
    starts: list[Object] = field(default_factory=list)
    keeps: int = 0
    failed: bool = False


def plan(
    pod: Object,
    seen: Observed,
    *,
    failed_probes: Mapping[str, str],
    is_started: Callable[[str], bool],
) -> Plan:
    """Decide.

    Args:
        pod: what shall run.
        seen: what is there.
        failed_probes: container id → ``liveness`` or ``startup`` for containers whose probe failed for good.
        is_started: tells of a running container's id whether its startup probe has passed.
    """
    if seen.ready_sandbox is None:
        return _anew(pod, seen)
    draft = _Draft()
    initialized = _initialize(pod, seen, draft, failed_probes, is_started)
    if draft.failed:
        return Plan(kill_pod=True)
    if initialized:
        regular = _Draft()
        for container in containers_of(pod):
            _settle(pod, container, seen.latest(container["name"]), regular, failed_probes)
        if not regular.keeps and not regular.starts:
            return Plan(kill_pod=True)
        draft.kills += regular.kills
        draft.starts += regular.starts
    draft.starts += [entry for entry in ephemeral_containers_of(pod) if seen.latest(entry["name"]) is None]
    return Plan(kills=tuple(draft.kills), starts=tuple(draft.starts))


def _anew(pod: Object, seen: Observed) -> Plan:
    """Start over in a new sandbox, if anything is left to run."""
    attempt = seen.sandbox.attempt + 1 if seen.sandbox is not None else 0
    left = [c for c in containers_of(pod) if should_start(pod, c, _as_ended(seen.latest(c["name"])))]
    never = pod["spec"].get("restartPolicy") == "Never"
    if not left or (never and any(seen.latest(c["name"]) for c in containers_of(pod))):
        return Plan(kill_pod=True)
    init = init_containers_of(pod)
    return Plan(create_sandbox=True, attempt=attempt, starts=tuple(init[:1] if init else left))


def _as_ended(status: ContainerStatus | None) -> ContainerStatus | None:
    """A container in a sandbox that is gone cannot run, whatever the runtime says."""
    return None if status is not None and status.state != "exited" else status


def _initialize(
    pod: Object,
    seen: Observed,
    draft: _Draft,
    failed_probes: Mapping[str, str],
    is_started: Callable[[str], bool],
) -> bool:
    """Plan the init containers; tell whether the regular ones may run."""
    regular_ran = any(_in_sandbox(seen, container["name"]) for container in containers_of(pod))
    for container in init_containers_of(pod):
        status = _current(seen, container["name"])
        if is_sidecar(container):
            _settle(pod, container, status, draft, failed_probes)
            running = status is not None and status.state == "running" and is_started(status.id)
            if not running and not regular_ran:
                return False
            continue
        if regular_ran:
            continue
        if status is None or status.state in {"created", "unknown"}:
            draft.starts.append(container)
            return False
        if status.state == "running":
            return False
        if status.exit_code != 0:
            if pod["spec"].get("restartPolicy") == "Never":
                draft.failed = True
            else:
                draft.starts.append(container)
            return False
    return True


def _current(seen: Observed, name: str) -> ContainerStatus | None:
    """Return the newest container of the name if it lives in the present sandbox: init runs once per sandbox."""
    status = seen.latest(name)
    sandbox = seen.ready_sandbox
    return status if status is not None and sandbox is not None and status.sandbox_id == sandbox.id else None


def _in_sandbox(seen: Observed, name: str) -> bool:
    return _current(seen, name) is not None


def _settle(
    pod: Object,
    container: Object,
    status: ContainerStatus | None,
    draft: _Draft,
    failed_probes: Mapping[str, str],
) -> None:
    """Plan one container that may run now."""
    if status is None or status.state != "running":
        if should_start(pod, container, status):
            draft.starts.append(container)
        return
    name = container["name"]
    again = restart_policy(pod, container) != "Never"
    changed = status.annotations.get(CONTAINER_HASH) not in {None, container_hash(container)}
    probe = failed_probes.get(status.id)
    if changed:
        message, again = f"Container {name} definition changed", True
    elif probe:
        message = f"Container {name} failed {probe} probe"
    else:
        draft.keeps += 1
        return
    draft.kills.append(Kill(status, message + (", will be restarted" if again else ""), again))
    if again:
        draft.starts.append(container)
        draft.keeps += 1


def killing_order(pod: Object, running: Iterable[ContainerStatus]) -> list[list[ContainerStatus]]:
    """Return the containers to stop in steps: all regular ones at once, then the sidecars, last one first."""
    sidecars = [container["name"] for container in init_containers_of(pod) if is_sidecar(container)]
    statuses = list(running)
    steps = [[status for status in statuses if status.name not in sidecars]]
    steps += [[status for status in statuses if status.name == name] for name in reversed(sidecars)]
    return [step for step in steps if step]
