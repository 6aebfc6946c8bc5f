"""Brings one pod to where it should be: looks, decides by `plan`, acts, reports; again whenever anything changed.

Source of the steps: kubernetes ``pkg/kubelet/kubelet.go`` (SyncPod, SyncTerminatingPod, SyncTerminatedPod).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from hyperkube_host.kubelet.admission import Admission
from hyperkube_host.kubelet.container_start import ContainerStarter, StartRefused
from hyperkube_host.kubelet.container_stop import ContainerStopper
from hyperkube_host.kubelet.observation import Observed, observe
from hyperkube_host.kubelet.plan import Kill, Plan, every_container_of, plan
from hyperkube_host.kubelet.pod_entry import PodEntry, describe
from hyperkube_host.kubelet.pod_reports import PodReports
from hyperkube_host.kubelet.pod_status import StatusInput, Waiting, pod_status, refused_status
from hyperkube_host.kubelet.probes import Probes
from hyperkube_host.kubelet.sandboxes import Sandboxes
from hyperkube_host.kubelet.sayings import Sayings
from hyperkube_host.kubelet.termination_messages import TerminationMessages
from hyperkube_host.kubelet.volumes import MountFailed, PodVolumes

from hyperkube.hookspecs.network import NetworkFailed
from hyperkube.hookspecs.runtime import ContainerStatus, Runtime, RuntimeFailed, SandboxStatus
from hyperkube.kinds.pods import is_terminal
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.durations import format_duration
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, is_being_deleted, uid_of
from hyperkube.machinery.times import parse_time

REPORT_AGAIN_SECONDS = 1.0
MOUNT_AGAIN_SECONDS = (0.5, 122.0)
SANDBOX_AGAIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a worker works with."""

    runtime: Runtime
    simulated: bool
    clock: Clock
    say: Sayings
    admission: Admission
    volumes: PodVolumes
    sandboxes: Sandboxes
    starter: ContainerStarter
    stopper: ContainerStopper
    probes: Probes
    messages: TerminationMessages
    reports: PodReports
    host_ips: tuple[str, ...]
    again: Callable[[str, float], None]
    """(pod uid, seconds) → look again then."""
    target: Callable[[Object], Object | None]
    """Pod → the pod in the API that its status is written to."""


class PodWorker:
    """Works on any pod, one step at a time."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._logger = logging.getLogger("hyperkube.kubelet")

    def work(self, entry: PodEntry) -> None:
        """Take one pod as far as it goes now."""
        if entry.refused is not None:
            self._refuse_or_delete(entry)
            return
        seen = observe(self._parts.runtime, uid_of(entry.pod))
        if not entry.must_end and not self._may_run(entry, seen):
            return
        if entry.must_end:
            self._end(entry, seen)
            return
        decided = self._plan(entry, seen)
        if decided.kill_pod:
            entry.complete = True
            self._end(entry, seen)
            return
        self._run(entry, seen, decided)
        self._report(entry, observe(self._parts.runtime, uid_of(entry.pod)))

    def _may_run(self, entry: PodEntry, seen: Observed) -> bool:
        """Admit the pod once, and see whether it ended before or is out of time."""
        if is_terminal(entry.pod):
            entry.complete = True
            return True
        if not entry.admitted:
            refusal = None if seen.containers else self._parts.admission.check(entry.pod)
            if refusal is not None:
                reason, message = refusal
                self._parts.say.pod(entry.pod, "Warning", reason, message)
                entry.refused = refused_status(entry.pod, reason, message, self._parts.clock.now())
                self._refuse_or_delete(entry)
                return False
            entry.admitted = True
        self._watch_deadline(entry)
        return True

    def _refuse_or_delete(self, entry: PodEntry) -> None:
        if entry.refused is not None:
            self._write(entry, entry.refused)
        if is_being_deleted(entry.pod):
            self._delete(entry)

    def _watch_deadline(self, entry: PodEntry) -> None:
        limit = entry.pod["spec"].get("activeDeadlineSeconds")
        started = (entry.view().get("status") or {}).get("startTime")
        if limit is None:
            return
        now = self._parts.clock.now()
        left = float(limit) - (now - (parse_time(started) if started else now)) / timedelta(seconds=1)
        if left > 0:
            self._parts.again(uid_of(entry.pod), left)
            return
        text = "Pod was active on the node longer than the specified deadline"
        self._parts.say.pod(entry.pod, "Normal", "DeadlineExceeded", text)
        entry.failure = ("DeadlineExceeded", text)

    def _plan(self, entry: PodEntry, seen: Observed) -> Plan:
        probes = self._parts.probes
        return plan(entry.pod, seen, failed_probes=probes.failed(), is_started=probes.is_started)

    # running

    def _run(self, entry: PodEntry, seen: Observed, decided: Plan) -> None:
        parts, pod = self._parts, entry.pod
        for kill in decided.kills:
            self._kill(entry, seen, kill)
        if decided.create_sandbox and not parts.simulated:
            self._report(entry, seen)
        paths = self._mount(entry)
        if paths is None:
            return
        sandbox = seen.ready_sandbox
        if decided.create_sandbox:
            sandbox = self._renew_sandbox(entry, seen, decided.attempt)
        elif sandbox is not None:
            parts.probes.follow(pod, seen, self._address(entry, sandbox))
        if sandbox is None:
            return
        for container in decided.starts:
            self._start(entry, container, sandbox, paths, seen.latest(container["name"]))

    def _kill(self, entry: PodEntry, seen: Observed, kill: Kill) -> None:
        container = self._container(entry.pod, kill.status.name)
        self._parts.say.container(entry.pod, container, "Normal", "Killing", kill.message)
        address = self._address(entry, seen.sandbox) if seen.sandbox else ""
        self._parts.stopper.stop(entry.pod, container, kill.status.id, address, entry.grace_seconds())
        self._parts.probes.forget(kill.status.id)

    def _container(self, pod: Object, name: str) -> Object:
        return next((container for container in every_container_of(pod) if container["name"] == name), {"name": name})

    def _mount(self, entry: PodEntry) -> dict[str, str] | None:
        if self._parts.simulated:
            names = [volume["name"] for volume in entry.pod["spec"].get("volumes") or []]
            return dict.fromkeys(names, "/")
        try:
            paths = self._parts.volumes.setup(entry.pod)
        except MountFailed as error:
            self._parts.say.pod(entry.pod, "Warning", "FailedMount", str(error))
            first, most = MOUNT_AGAIN_SECONDS
            self._parts.again(uid_of(entry.pod), min(most, first * 2**entry.mount_failures))
            entry.mount_failures += 1
            return None
        entry.mount_failures = 0
        return paths

    def _renew_sandbox(self, entry: PodEntry, seen: Observed, attempt: int) -> SandboxStatus | None:
        if seen.sandbox is not None:
            text = "Pod sandbox changed, it will be killed and re-created."
            self._parts.say.pod(entry.pod, "Normal", "SandboxChanged", text)
            for sandbox in seen.sandboxes:
                self._parts.sandboxes.stop(entry.pod, sandbox)
        try:
            return self._parts.sandboxes.create(entry.pod, attempt)
        except (RuntimeFailed, NetworkFailed) as error:
            text = f"Failed to create pod sandbox: {error}"
            self._parts.say.pod(entry.pod, "Warning", "FailedCreatePodSandBox", text)
            self._parts.again(uid_of(entry.pod), SANDBOX_AGAIN_SECONDS)
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
        if latest is not None and latest.state == "exited":
            wait = entry.restart_wait(name, latest.finished_at, self._parts.clock.now().timestamp())
            if wait > 0:
                delay = format_duration(entry.crashes[name].delay)
                text = f"back-off {delay} restarting failed container={name} pod={describe(entry.pod)}"
                entry.waiting[name] = Waiting("CrashLoopBackOff", text)
                event = f"Back-off restarting failed container {name} in pod {describe(entry.pod)}"
                self._parts.say.container(entry.pod, container, "Warning", "BackOff", event)
                self._parts.again(uid, wait)
                return
        try:
            self._parts.starter.start(entry.pod, container, sandbox, paths, self._attempt(entry, name, latest))
        except StartRefused as error:
            entry.waiting[name] = error.waiting
            self._parts.again(uid, error.retry_seconds)
        else:
            entry.waiting.pop(name, None)

    def _attempt(self, entry: PodEntry, name: str, latest: ContainerStatus | None) -> int:
        """Return the number of the next attempt, also when the runtime has forgotten the earlier ones."""
        if latest is not None:
            return latest.attempt + 1
        status = entry.view().get("status") or {}
        for known in [*(status.get("containerStatuses") or []), *(status.get("initContainerStatuses") or [])]:
            if known["name"] == name and known.get("containerID"):
                return int(known.get("restartCount", 0)) + 1
        return 0

    # ending

    def _end(self, entry: PodEntry, seen: Observed) -> None:
        parts, pod = self._parts, entry.pod
        if not entry.ended:
            if seen.running():
                parts.stopper.stop_all(pod, seen, self._address(entry, seen.sandbox), entry.grace_seconds)
            for sandbox in seen.sandboxes:
                if sandbox.ready:
                    parts.sandboxes.stop(pod, sandbox)
            parts.probes.forget_pod(uid_of(pod))
            seen = observe(parts.runtime, uid_of(pod))
            entry.waiting.clear()
        if not self._report(entry, seen, is_terminal=True):
            return
        if not entry.ended and not parts.simulated:
            parts.volumes.teardown(pod)
        entry.ended = True
        if is_being_deleted(pod) and not entry.removed:
            self._delete(entry)

    def _delete(self, entry: PodEntry) -> None:
        if self._parts.target(entry.pod) is not entry.pod:
            return  # a static pod: its mirror is another's business
        try:
            self._parts.reports.delete(entry.pod)
        except (ApiError, ConnectionError) as error:
            self._logger.warning("pod %s could not be deleted yet: %s", describe(entry.pod), error)
            self._parts.again(uid_of(entry.pod), REPORT_AGAIN_SECONDS)

    # reporting

    def _address(self, entry: PodEntry, sandbox: SandboxStatus | None) -> str:
        hosts = self._parts.host_ips
        own = sandbox.ips if sandbox is not None and not entry.pod["spec"].get("hostNetwork") else ()
        return (own or hosts or ("127.0.0.1",))[0]

    def _report(self, entry: PodEntry, seen: Observed, *, is_terminal: bool = False) -> bool:
        """Write the status if it changed; tell whether the API has it now."""
        parts = self._parts
        if not is_terminal and seen.sandbox is not None:
            parts.probes.follow(entry.pod, seen, self._address(entry, seen.sandbox))
        status = pod_status(
            entry.view(),
            StatusInput(
                seen=seen,
                waiting=entry.waiting,
                messages=parts.messages.read(entry, seen),
                is_ready=parts.probes.is_ready,
                is_started=parts.probes.is_started,
                is_terminal=is_terminal,
                failure=entry.failure,
                host_ips=parts.host_ips,
                runtime_name=parts.runtime.name,
                now=parts.clock.now(),
            ),
        )
        return self._write(entry, status)

    def _write(self, entry: PodEntry, status: Object) -> bool:
        if entry.removed:
            return True  # there is nobody left to tell
        try:
            self._parts.reports.write(entry, self._parts.target(entry.pod), status)
        except (ApiError, ConnectionError) as error:
            self._logger.warning("status of pod %s could not be written yet: %s", describe(entry.pod), error)
            self._parts.again(uid_of(entry.pod), REPORT_AGAIN_SECONDS)
            return False
        return True
