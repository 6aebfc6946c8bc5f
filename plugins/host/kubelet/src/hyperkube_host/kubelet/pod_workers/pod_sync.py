"""Carries out what was decided for a pod: stops containers, creates its sandbox, starts containers.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (SyncPod, doBackOff, purgeInitContainers).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.container.pod_status import PodStatus, get_pod_status
from hyperkube_host.kubelet.kuberuntime.start_container import PodPlace, StartFailed
from hyperkube_host.kubelet.kuberuntime.unhonoured import record_unhonoured
from hyperkube_host.kubelet.pod.pod_entry import PodEntry
from hyperkube_host.kubelet.pod_workers.worker_services import WorkerServices
from hyperkube_host.kubelet.types.labels import container_hash
from hyperkube_host.kubelet.types.plugin_bugs import plugin_bugs
from hyperkube_host.kubelet.types.pod_spec import all_containers_of, init_containers_of
from hyperkube_host.kubelet.types.pod_status import Waiting, reported_container_statuses
from hyperkube_host.kubelet.types.pod_update import describe
from hyperkube_host.kubelet.volumemanager.mount_volume import MountFailed
from hyperkube_host.kubelet.volumemanager.volume_manager import StillMounting

from hyperkube.hookspecs.network import NetworkFailed
from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, RuntimeFailed, SandboxStatus
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.durations import format_duration
from hyperkube.machinery.objects import Object, uid_of

if TYPE_CHECKING:
    from hyperkube_host.kubelet.kuberuntime.pod_actions import ContainerToKill, PodActions

MOUNT_RETRY_INITIAL_SECONDS, MOUNT_RETRY_MAX_SECONDS = 0.5, 122.0


@dataclass(slots=True)
class SyncResult:
    """What came of the actions.

    Attributes:
        changed: the runtime has something else of the pod now.
        failed: something did not work, and is to be tried again.
        wait_seconds: until the first container that waits for its restart may run; None when none does.
    """

    changed: bool = False
    failed: bool = False
    wait_seconds: float | None = None

    def wait(self, seconds: float) -> None:
        """Note that something is to be looked at again in `seconds`."""
        self.wait_seconds = seconds if self.wait_seconds is None else min(seconds, self.wait_seconds)


class PodSync:
    """Acts on the runtime for one pod at a time."""

    def __init__(self, services: WorkerServices) -> None:
        self._services = services

    def run(
        self, entry: PodEntry, pod_status: PodStatus, actions: PodActions, before_pull: Callable[[], None]
    ) -> SyncResult:
        """Carry out the actions, as far as they go; `before_pull` is called before an image is pulled."""
        result = SyncResult()
        if actions.kill_pod:
            self._kill_for_new_sandbox(entry, pod_status, result, creates=actions.create_sandbox)
            if not actions.create_sandbox:
                return result
        for kill in actions.kills:
            self._kill(entry, pod_status, kill)
            result.changed = True
        if actions.kills or actions.kill_pod:
            # What was stopped has exited now: its next start waits for the back-off, as after any other end.
            pod_status = get_pod_status(self._services.runtime, uid_of(entry.pod))
        paths = self._mount(entry, result)
        if paths is None:
            return result
        sandbox = pod_status.ready_sandbox
        if actions.create_sandbox:
            sandbox = self._create_sandbox(entry, actions.attempt, result)
        if sandbox is None:
            return result
        result.changed |= self._services.allocations.actuate(entry, pod_status, sandbox)
        # As Kubernetes does in each sync, whether or not a container is to start; but it would pull each time, too.
        images = self._services.starter.volume_images(entry.pod, sandbox, starts=bool(actions.starts))
        place = PodPlace(sandbox, paths, images, before_pull)
        for container in actions.starts:
            self._start(entry, container, place, pod_status, result)
        return result

    # stopping

    def kill_pod(self, entry: PodEntry, pod_status: PodStatus) -> None:
        """Stop all containers of a pod, then its sandboxes."""
        services = self._services
        if pod_status.running():
            # The grace period is passed as a function: it may become shorter while containers are stopping.
            services.stopper.stop_all(
                entry.pod, pod_status, address_of(entry.pod, pod_status.sandbox, services.host_ips), entry.grace_seconds
            )
        for sandbox in pod_status.sandboxes:
            if sandbox.ready or sandbox.id not in entry.sandboxes_stopped:
                services.sandboxes.stop(entry.pod, sandbox)
                entry.sandboxes_stopped.add(sandbox.id)

    def _kill_for_new_sandbox(
        self, entry: PodEntry, pod_status: PodStatus, result: SyncResult, *, creates: bool
    ) -> None:
        """Stop what is left in the old sandbox; init containers have to run again in the new one."""
        if creates and pod_status.sandbox is not None:
            text = "Pod sandbox changed, it will be killed and re-created."
            self._services.recorder.pod_event(entry.pod, "Normal", "SandboxChanged", text)
        self.kill_pod(entry, pod_status)
        result.changed = bool(pod_status.running()) or any(sandbox.ready for sandbox in pod_status.sandboxes)
        if not creates:
            return
        names = [container["name"] for container in init_containers_of(entry.pod)]
        for status in (status for name in names for status in pod_status.containers.get(name, ())):
            self._services.runtime.remove_container(status.id)

    def _kill(self, entry: PodEntry, pod_status: PodStatus, kill: ContainerToKill) -> None:
        container = _spec_of(entry.pod, kill.status.name)
        self._services.recorder.container_event(entry.pod, container, "Normal", "Killing", kill.message)
        address = address_of(entry.pod, pod_status.sandbox, self._services.host_ips)
        grace = entry.grace_seconds()
        own = (container.get(kill.probe.field) or {}).get("terminationGracePeriodSeconds") if kill.probe else None
        self._services.stopper.stop(entry.pod, container, kill.status.id, address, grace if own is None else own)
        self._services.probes.remove_container(kill.status.id)

    def reset(self, entry: PodEntry, pod_status: PodStatus) -> SyncResult:
        """Remove all containers of a pod, at once and without its grace period, so that they start anew."""
        from hyperkube_host.kubelet.kuberuntime.pod_actions import compute_reset

        services, result = self._services, SyncResult()
        for reset in compute_reset(entry.pod, pod_status):
            status = reset.status
            if reset.kill:
                container = _spec_of(entry.pod, status.name)
                services.recorder.container_event(entry.pod, container, "Normal", "Killing", "killing")
                address = address_of(entry.pod, pod_status.sandbox, services.host_ips)
                services.stopper.stop(entry.pod, container, status.id, address, 0.0)
            services.probes.remove_container(status.id)
            services.runtime.remove_container(status.id)
            entry.waiting.pop(status.name, None)
            result.changed = True
        return result

    # starting

    def _mount(self, entry: PodEntry, result: SyncResult) -> dict[str, str] | None:
        """Return volume name → path on the node; None when a volume is not ready."""
        if entry.volumes_refused:
            return None
        if self._services.volumes is None:
            names = [volume["name"] for volume in entry.pod["spec"].get("volumes") or []]
            return dict.fromkeys(names, "/")
        try:
            paths = self._services.volumes.setup(entry.pod)
        except StillMounting:
            # The end of an operation brings the pod back; this is for the event of a timeout.
            result.wait(MOUNT_RETRY_MAX_SECONDS)
            return None
        except MountFailed as error:
            if error.reason:
                self._services.recorder.pod_event(entry.pod, "Warning", error.reason, str(error))
            if error.final:
                entry.volumes_refused = True
                return None
            failures = entry.count_mount_failure(awaits_attachment=not error.reason)
            result.wait(min(MOUNT_RETRY_MAX_SECONDS, MOUNT_RETRY_INITIAL_SECONDS * 2**failures))
            return None
        entry.mount_failures = 0
        entry.volumes_are_ready = True
        return paths

    def _create_sandbox(self, entry: PodEntry, attempt: int, result: SyncResult) -> SandboxStatus | None:
        if not attempt:
            record_unhonoured(self._services.recorder, self._services.runtime, entry.pod)
        if not self._prepare(entry.pod, result):
            return None
        try:
            with plugin_bugs():
                sandbox = self._services.sandboxes.create(entry.pod, attempt)
        except (RuntimeFailed, NetworkFailed) as error:
            text = f"Failed to create pod sandbox: {error}"
            self._services.recorder.pod_event(entry.pod, "Warning", "FailedCreatePodSandBox", text)
            result.failed = True
            return None
        result.changed = True
        return sandbox

    def _prepare(self, pod: Object, result: SyncResult) -> bool:
        """Make the pod's cgroup and have its claims prepared; tell whether both succeeded."""
        manager, recorder = self._services.container_manager, self._services.recorder
        try:
            manager.prepare_pod(pod)
        except ContainerManagerFailed as error:
            text = f"unable to ensure pod container exists: {error}"
            recorder.pod_event(pod, "Warning", "FailedCreatePodContainer", text)
            result.failed = True
            return False
        try:
            manager.prepare_dynamic_resources(pod)
        except ContainerManagerFailed as error:
            text = f"Failed to prepare dynamic resources: {error}"
            recorder.pod_event(pod, "Warning", "FailedPrepareDynamicResources", text)
            result.failed = True
            return False
        return True

    def _start(
        self, entry: PodEntry, container: Object, place: PodPlace, pod_status: PodStatus, result: SyncResult
    ) -> None:
        name, latest = container["name"], pod_status.latest(container["name"])
        if self._is_in_back_off(entry, container, pod_status, result):
            return
        try:
            self._services.starter.start(entry.pod, container, place, next_attempt(entry, name, latest))
        except StartFailed as error:
            entry.waiting[name] = error.waiting
            result.wait(error.retry_seconds)
        else:
            entry.waiting.pop(name, None)
            result.changed = True

    def _is_in_back_off(self, entry: PodEntry, container: Object, pod_status: PodStatus, result: SyncResult) -> bool:
        """Tell whether a container that ended has to wait before it starts again; say so if it has."""
        name, pod = container["name"], describe(entry.pod)
        statuses = pod_status.containers.get(name, ())
        ended = next((status for status in statuses if status.state == ContainerState.EXITED), None)
        if ended is None:
            return False
        key = f"{name} {container_hash(container)}"
        wait = entry.restarts.remaining(key, ended.finished_at, self._services.clock.now().timestamp())
        if wait <= 0:
            return False
        event = f"Back-off restarting failed container {name} in pod {pod}"
        self._services.recorder.container_event(entry.pod, container, "Warning", "BackOff", event)
        delay = format_duration(entry.restarts.delay(key))
        text = f"back-off {delay} restarting failed container={name} pod={pod}"
        entry.waiting[name] = Waiting("CrashLoopBackOff", text)
        result.wait(wait)
        return True


def _spec_of(pod: Object, name: str) -> Object:
    return next((one for one in all_containers_of(pod) if one["name"] == name), {"name": name})


def address_of(pod: Object, sandbox: SandboxStatus | None, host_ips: tuple[str, ...]) -> str:
    """Return the address at which probes and hooks reach the pod."""
    own = sandbox.ips if sandbox is not None and not pod["spec"].get("hostNetwork") else ()
    return (own or host_ips or ("127.0.0.1",))[0]


def next_attempt(entry: PodEntry, name: str, latest: ContainerStatus | None) -> int:
    """Return the number of a container's next attempt, also when the runtime has forgotten the earlier ones."""
    if latest is not None:
        return latest.attempt + 1
    for known in reported_container_statuses(entry.view().get("status") or {}):
        if known["name"] == name:
            # The count of a container that was lost was raised when that was reported, with no id of a container.
            return int(known.get("restartCount", 0)) + bool(known.get("containerID"))
    return 0
