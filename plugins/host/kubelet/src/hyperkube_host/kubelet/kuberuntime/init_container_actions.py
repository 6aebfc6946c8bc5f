"""Which init containers to start and to stop, sidecars among them.

Source of the rules: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container.go`` (computeInitContainerActions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.kuberuntime.kill_reason import ContainerToKill, definition_changed, unknown_state
from hyperkube_host.kubelet.prober.probe_type import ProbeType
from hyperkube_host.kubelet.types.pod_spec import containers_of, init_containers_of, should_restart

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus
from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object


@dataclass(slots=True)
class InitContainerActions:
    """The decisions on init containers.

    Attributes:
        kills: containers to stop.
        starts: containers to start, in the order of the spec.
        initialized: the regular containers may run.
        failed: an init container failed for good, and the pod with it.
    """

    kills: list[ContainerToKill] = field(default_factory=list)
    starts: list[Object] = field(default_factory=list)
    initialized: bool = False
    failed: bool = False


def decide_init_containers(
    pod: Object, pod_status: PodStatus, failed_probes: Mapping[str, ProbeType], is_started: Callable[[str], bool]
) -> InitContainerActions:
    """Decide from the last init container back to the first.

    Completed init containers may have been removed from the runtime since, so the last one that is known tells how far
    the pod has come; what stands before it has run, and only sidecars before it are looked at.
    """
    containers = init_containers_of(pod)
    actions = InitContainerActions(initialized=not containers or _has_initialized(pod, pod_status))
    is_past = actions.initialized
    starts: list[int] = []
    for index, container in reversed(list(enumerate(containers))):
        if is_past and not is_sidecar(container):
            continue
        status = pod_status.latest(container["name"])
        if status is None:
            if is_past:
                starts.append(index)
            continue
        step = _Step(pod, container, status, failed_probes, is_started).decide()
        if step.failed:
            return InitContainerActions(failed=True)
        actions.kills += step.kills
        if step.begins_next and index == len(containers) - 1:
            actions.initialized = True
        elif step.begins_next and not is_past:
            starts.append(index + 1)
        if step.start:
            starts.append(index)
        is_past = True
    if not is_past:
        starts.append(0)
    actions.starts = [containers[index] for index in sorted(set(starts))]
    return actions


def _has_initialized(pod: Object, pod_status: PodStatus) -> bool:
    """Tell whether a regular container was created in the present sandbox.

    An exited one says nothing: after a restart of the machine all containers of the earlier sandbox have exited.
    """
    latest = (pod_status.latest(container["name"]) for container in containers_of(pod))
    return any(
        status is not None and status.state in {ContainerState.CREATED, ContainerState.RUNNING} for status in latest
    )


@dataclass(slots=True)
class _Step:
    """The decision on one init container that the runtime has."""

    pod: Object
    container: Object
    status: ContainerStatus
    failed_probes: Mapping[str, ProbeType]
    is_started: Callable[[str], bool]
    kills: list[ContainerToKill] = field(default_factory=list)
    start: bool = False
    begins_next: bool = False
    failed: bool = False

    def decide(self) -> _Step:
        """Fill in what is to be done."""
        match self.status.state:
            case ContainerState.CREATED:
                self.start = True  # the runtime failed to start it
            case ContainerState.RUNNING:
                if is_sidecar(self.container):
                    self._decide_running_sidecar()
            case ContainerState.EXITED:
                self._decide_exited()
            case _:
                self._decide_unknown()
        return self

    def _decide_running_sidecar(self) -> None:
        name, probe = self.container["name"], self.failed_probes.get(self.status.id)
        if probe is ProbeType.STARTUP:
            self._restart(f"Init container {name} failed startup probe", probe)
        if not self.is_started(self.status.id):
            return
        self.begins_next = True
        if definition_changed(self.container, self.status):
            self._restart(f"Init container {name} definition changed")
        elif probe is ProbeType.LIVENESS:
            self._restart(f"Init container {name} failed liveness probe", probe)

    def _decide_exited(self) -> None:
        if is_sidecar(self.container):
            self.start = True
        elif self.status.exit_code == 0:
            self.begins_next = True
        elif self._restarts():
            self.start = True
        else:
            self.failed = True

    def _decide_unknown(self) -> None:
        if is_sidecar(self.container) or self._restarts():
            self.kills.append(unknown_state(self.status, "Init container"))
            self.start = True
        else:
            self.failed = True

    def _restarts(self) -> bool:
        """Tell whether a failed init container runs again; its policy Always would make it a sidecar."""
        own = self.container if self.container.get("restartPolicy") else {}
        return should_restart(self.pod, own, self.status.exit_code or 1)

    def _restart(self, message: str, probe: ProbeType | None = None) -> None:
        self.kills.append(ContainerToKill(self.status, message, probe))
        self.start = True
