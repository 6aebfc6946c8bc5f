"""Brings one pod to its desired state: looks at the runtime, decides, acts and reports, again after every change.

The work queue of the kubelet calls `PodWorker.sync` for one pod on one thread at a time, so a `PodEntry` needs no lock.
A sync never waits for a condition: it goes as far as it can now, and asks to be called again (`requeue_after`) or
relies on a change that will be reported (by a pod source, the PLEG or a probe). The only step that takes long is
stopping containers, which waits for their grace period; `ContainerStopper.shorten_grace_period` is called beside it.

Source of the steps: kubernetes ``pkg/kubelet/pod_workers.go``, ``pkg/kubelet/kubelet.go`` (SyncPod, SyncTerminatingPod,
SyncTerminatedPod).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from hyperkube_host.kubelet.container.pod_status import PodStatus, get_pod_status
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.kuberuntime.pod_actions import ContainerToKill, PodActions, compute_pod_actions
from hyperkube_host.kubelet.kuberuntime.sandbox import SandboxManager
from hyperkube_host.kubelet.kuberuntime.start_container import ContainerStarter, StartFailed
from hyperkube_host.kubelet.kuberuntime.stop_container import ContainerStopper
from hyperkube_host.kubelet.kuberuntime.termination_message import TerminationMessages
from hyperkube_host.kubelet.kuberuntime.unhonoured import record_unhonoured
from hyperkube_host.kubelet.lifecycle.predicate import PodAdmission
from hyperkube_host.kubelet.pod.pod_entry import PodEntry, PodState
from hyperkube_host.kubelet.prober.prober_manager import ProbeManager
from hyperkube_host.kubelet.status.api_pod_status import api_pod_status, rejected_status
from hyperkube_host.kubelet.status.status_input import StatusInput
from hyperkube_host.kubelet.status.status_manager import StatusManager
from hyperkube_host.kubelet.types.labels import container_hash
from hyperkube_host.kubelet.types.pod_spec import all_containers_of
from hyperkube_host.kubelet.types.pod_status import Failure, Waiting, reported_container_statuses
from hyperkube_host.kubelet.types.pod_update import describe
from hyperkube_host.kubelet.volumemanager.volume_manager import MountFailed, VolumeManager

from hyperkube.hookspecs.network import NetworkFailed
from hyperkube.hookspecs.runtime import (
    ContainerState,
    ContainerStatus,
    Runtime,
    RuntimeFailed,
    SandboxStatus,
    Simulated,
)
from hyperkube.kinds.pods import is_terminal
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.durations import format_duration
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, is_being_deleted, uid_of
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import parse_time

REPORT_RETRY_SECONDS = 1.0
MOUNT_RETRY_INITIAL_SECONDS, MOUNT_RETRY_MAX_SECONDS = 0.5, 122.0
SANDBOX_RETRY_SECONDS = 5.0


class WorkerServices(Record):
    """The services that a pod worker uses.

    Attributes:
        volumes: None for a simulated runtime, whose containers read no files.
        host_ips: the node's addresses.
        requeue_after: (pod uid, seconds) → sync the pod again then.
        status_target: pod → the pod of the API that its status is written to.
    """

    runtime: Runtime
    clock: Clock
    recorder: KubeletEventRecorder
    admission: PodAdmission
    volumes: VolumeManager | None
    sandboxes: SandboxManager
    starter: ContainerStarter
    stopper: ContainerStopper
    probes: ProbeManager
    messages: TerminationMessages
    statuses: StatusManager
    host_ips: tuple[str, ...]
    requeue_after: Callable[[str, float], None]
    status_target: Callable[[Object], Object | None]


class PodWorker:
    """Syncs pods, one step at a time; the state of each is in its `PodEntry`."""

    def __init__(self, services: WorkerServices) -> None:
        self._services = services
        self._is_simulated = isinstance(services.runtime, Simulated)
        self._logger = logging.getLogger("hyperkube.kubelet")

    def sync(self, entry: PodEntry) -> None:
        """Take one pod as far as it goes now."""
        if entry.state is PodState.REJECTED:
            self._sync_rejected(entry)
            return
        pod_status = self._pod_status(entry)
        if not entry.must_terminate and not self._may_run(entry, pod_status):
            return
        # Asked again: `_may_run` may have found that the pod has ended before, or is over its deadline.
        if entry.must_terminate:
            self._terminate(entry, pod_status)
            return
        actions = self._compute_actions(entry, pod_status)
        if actions.kill_pod:
            entry.state = PodState.TERMINATING
            self._terminate(entry, pod_status)
            return
        self._run(entry, pod_status, actions)
        # The runtime is asked anew, so that one sync both starts containers and reports them as running.
        self._report(entry, self._pod_status(entry))

    def _pod_status(self, entry: PodEntry) -> PodStatus:
        return get_pod_status(self._services.runtime, uid_of(entry.pod))

    def _may_run(self, entry: PodEntry, pod_status: PodStatus) -> bool:
        """Admit the pod once; note when it ended under an earlier kubelet, or is over its deadline."""
        if is_terminal(entry.pod):
            entry.state = PodState.TERMINATING
            return True
        if entry.state is PodState.PENDING:
            # A pod that has containers was admitted by an earlier kubelet: rejecting it now would kill it.
            rejection = None if pod_status.containers else self._services.admission.check(entry.pod)
            if rejection is not None:
                self._services.recorder.pod_event(entry.pod, "Warning", rejection.reason, rejection.message)
                entry.rejection = rejected_status(entry.pod, rejection, self._services.clock.now())
                entry.state = PodState.REJECTED
                self._sync_rejected(entry)
                return False
            entry.state = PodState.SYNCING
        self._check_active_deadline(entry)
        return True

    def _sync_rejected(self, entry: PodEntry) -> None:
        if entry.rejection is not None:
            self._write_status(entry, entry.rejection)
        if is_being_deleted(entry.pod):
            self._delete(entry)

    def _check_active_deadline(self, entry: PodEntry) -> None:
        limit = entry.pod["spec"].get("activeDeadlineSeconds")
        started = (entry.view().get("status") or {}).get("startTime")
        if limit is None:
            return
        now = self._services.clock.now()
        left = float(limit) - (now - (parse_time(started) if started else now)) / timedelta(seconds=1)
        if left > 0:
            self._services.requeue_after(uid_of(entry.pod), left)
            return
        text = "Pod was active on the node longer than the specified deadline"
        self._services.recorder.pod_event(entry.pod, "Normal", "DeadlineExceeded", text)
        entry.failure = Failure("DeadlineExceeded", text)

    def _compute_actions(self, entry: PodEntry, pod_status: PodStatus) -> PodActions:
        probes = self._services.probes
        return compute_pod_actions(entry.pod, pod_status, failed_probes=probes.failed(), is_started=probes.is_started)

    # running

    def _run(self, entry: PodEntry, pod_status: PodStatus, actions: PodActions) -> None:
        services, pod = self._services, entry.pod
        for kill in actions.kills:
            self._kill(entry, pod_status, kill)
        if actions.kills:
            # What was killed has exited now: its next start waits for the back-off, as after any other end.
            pod_status = self._pod_status(entry)
        if actions.create_sandbox and not self._is_simulated:
            # Volumes and the sandbox may take long: people should see before that the node has taken the pod.
            self._report(entry, pod_status)
        paths = self._mount(entry)
        if paths is None:
            return
        sandbox = pod_status.ready_sandbox
        if actions.create_sandbox:
            sandbox = self._create_sandbox(entry, pod_status, actions.attempt)
        elif sandbox is not None:
            services.probes.add_pod(pod, pod_status, self._address(entry, sandbox))
        if sandbox is None:
            return
        for container in actions.starts:
            self._start(entry, container, sandbox, paths, pod_status.latest(container["name"]))

    def _kill(self, entry: PodEntry, pod_status: PodStatus, kill: ContainerToKill) -> None:
        name = kill.status.name
        container = next((one for one in all_containers_of(entry.pod) if one["name"] == name), {"name": name})
        self._services.recorder.container_event(entry.pod, container, "Normal", "Killing", kill.message)
        address = self._address(entry, pod_status.sandbox) if pod_status.sandbox else ""
        self._services.stopper.stop(entry.pod, container, kill.status.id, address, entry.grace_seconds())
        self._services.probes.remove_container(kill.status.id)

    def _mount(self, entry: PodEntry) -> dict[str, str] | None:
        """Return volume name → path on the node; None when a volume is not ready."""
        if entry.volumes_refused:
            return None
        if self._services.volumes is None:
            names = [volume["name"] for volume in entry.pod["spec"].get("volumes") or []]
            return dict.fromkeys(names, "/")
        try:
            paths = self._services.volumes.setup(entry.pod)
        except MountFailed as error:
            self._services.recorder.pod_event(entry.pod, "Warning", "FailedMount", str(error))
            if error.final:
                entry.volumes_refused = True
                return None
            delay = min(MOUNT_RETRY_MAX_SECONDS, MOUNT_RETRY_INITIAL_SECONDS * 2**entry.mount_failures)
            self._services.requeue_after(uid_of(entry.pod), delay)
            entry.mount_failures += 1
            return None
        entry.mount_failures = 0
        return paths

    def _create_sandbox(self, entry: PodEntry, pod_status: PodStatus, attempt: int) -> SandboxStatus | None:
        if pod_status.sandbox is not None:
            text = "Pod sandbox changed, it will be killed and re-created."
            self._services.recorder.pod_event(entry.pod, "Normal", "SandboxChanged", text)
            for sandbox in pod_status.sandboxes:
                self._services.sandboxes.stop(entry.pod, sandbox)
        else:
            record_unhonoured(self._services.recorder, self._services.runtime, entry.pod)
        try:
            return self._services.sandboxes.create(entry.pod, attempt)
        except (RuntimeFailed, NetworkFailed) as error:
            text = f"Failed to create pod sandbox: {error}"
            self._services.recorder.pod_event(entry.pod, "Warning", "FailedCreatePodSandBox", text)
            self._services.requeue_after(uid_of(entry.pod), SANDBOX_RETRY_SECONDS)
            return None

    def _start(
        self,
        entry: PodEntry,
        container: Object,
        sandbox: SandboxStatus,
        paths: dict[str, str],
        latest: ContainerStatus | None,
    ) -> None:
        name, uid = container["name"], uid_of(entry.pod)
        if latest is not None and latest.state == ContainerState.EXITED:
            key = f"{name} {container_hash(container)}"
            wait = entry.restarts.remaining(key, latest.finished_at, self._services.clock.now().timestamp())
            if wait > 0:
                delay = format_duration(entry.restarts.delay(key))
                text = f"back-off {delay} restarting failed container={name} pod={describe(entry.pod)}"
                entry.waiting[name] = Waiting("CrashLoopBackOff", text)
                event = f"Back-off restarting failed container {name} in pod {describe(entry.pod)}"
                self._services.recorder.container_event(entry.pod, container, "Warning", "BackOff", event)
                self._services.requeue_after(uid, wait)
                return
        try:
            self._services.starter.start(entry.pod, container, sandbox, paths, _next_attempt(entry, name, latest))
        except StartFailed as error:
            entry.waiting[name] = error.waiting
            self._services.requeue_after(uid, error.retry_seconds)
        else:
            entry.waiting.pop(name, None)

    # terminating

    def _terminate(self, entry: PodEntry, pod_status: PodStatus) -> None:
        services, pod = self._services, entry.pod
        if entry.state is not PodState.TERMINATED:
            if pod_status.running():
                # The grace period is passed as a function: it may become shorter while containers are stopping.
                services.stopper.stop_all(
                    pod, pod_status, self._address(entry, pod_status.sandbox), entry.grace_seconds
                )
            for sandbox in pod_status.sandboxes:
                if sandbox.ready:
                    services.sandboxes.stop(pod, sandbox)
            services.probes.remove_pod(uid_of(pod))
            pod_status = self._pod_status(entry)
            entry.waiting.clear()
        # The final status is written while the containers' message files still exist, before the volumes are gone.
        if not self._report(entry, pod_status, is_terminal=True):
            return
        if entry.state is not PodState.TERMINATED and services.volumes is not None:
            services.volumes.teardown(pod)
        entry.state = PodState.TERMINATED
        # Deleted last: once the pod is gone from the API, its name and its node's resources are given to another one.
        if is_being_deleted(pod) and not entry.removed:
            self._delete(entry)

    def _delete(self, entry: PodEntry) -> None:
        if self._services.status_target(entry.pod) is not entry.pod:
            return  # a static pod; its mirror is deleted by `MirrorPods`
        try:
            self._services.statuses.delete_pod(entry.pod)
        except (ApiError, ConnectionError) as error:
            self._logger.warning("pod %s could not be deleted yet: %s", describe(entry.pod), error)
            self._services.requeue_after(uid_of(entry.pod), REPORT_RETRY_SECONDS)

    # reporting

    def _address(self, entry: PodEntry, sandbox: SandboxStatus | None) -> str:
        """Return the address at which probes and hooks reach the pod."""
        hosts = self._services.host_ips
        own = sandbox.ips if sandbox is not None and not entry.pod["spec"].get("hostNetwork") else ()
        return (own or hosts or ("127.0.0.1",))[0]

    def _report(self, entry: PodEntry, pod_status: PodStatus, *, is_terminal: bool = False) -> bool:
        """Write the status if it changed; tell whether the API has it now."""
        services = self._services
        if not is_terminal and pod_status.sandbox is not None:
            services.probes.add_pod(entry.pod, pod_status, self._address(entry, pod_status.sandbox))
        status = api_pod_status(
            entry.view(),
            StatusInput(
                pod_status=pod_status,
                waiting=entry.waiting,
                messages=services.messages.read(entry, pod_status),
                is_ready=services.probes.is_ready,
                is_started=services.probes.is_started,
                is_terminal=is_terminal,
                failure=entry.failure,
                host_ips=services.host_ips,
                runtime_name=services.runtime.name,
                now=services.clock.now(),
            ),
        )
        return self._write_status(entry, status)

    def _write_status(self, entry: PodEntry, status: Object) -> bool:
        if entry.removed:
            return True  # the pod is not in the API any more
        try:
            self._services.statuses.set_pod_status(entry, self._services.status_target(entry.pod), status)
        except (ApiError, ConnectionError) as error:
            self._logger.warning("status of pod %s could not be written yet: %s", describe(entry.pod), error)
            self._services.requeue_after(uid_of(entry.pod), REPORT_RETRY_SECONDS)
            return False
        return True


def _next_attempt(entry: PodEntry, name: str, latest: ContainerStatus | None) -> int:
    """Return the number of a container's next attempt, also when the runtime has forgotten the earlier ones."""
    if latest is not None:
        return latest.attempt + 1
    for known in reported_container_statuses(entry.view().get("status") or {}):
        if known["name"] == name and known.get("containerID"):
            return int(known.get("restartCount", 0)) + 1
    return 0
