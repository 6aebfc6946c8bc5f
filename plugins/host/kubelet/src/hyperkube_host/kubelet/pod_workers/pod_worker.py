"""Brings one pod to its desired state: looks at the runtime, decides, reports and acts, again after every change.

The work queue of the kubelet calls `PodWorker.sync` for one pod on one thread at a time, so a `PodEntry` needs no lock.
A sync never waits for a condition: it goes as far as it can now, and asks to be called again (`requeue_after`) or
relies on a change that will be reported (by a pod source, the PLEG or a probe). The only step that takes long is
stopping containers, which waits for their grace period; `ContainerStopper.shorten_grace_period` is called beside it.

Source of the steps: kubernetes ``pkg/kubelet/pod_workers.go``, ``pkg/kubelet/kubelet.go`` (SyncPod, SyncTerminatingPod,
SyncTerminatedPod).
"""

from __future__ import annotations

import logging
import random
from datetime import timedelta
from functools import partial

from hyperkube_host.kubelet.container.pod_status import PodStatus, get_pod_status
from hyperkube_host.kubelet.pod.pod_entry import PodEntry, PodState
from hyperkube_host.kubelet.pod_workers.pod_sync import PodSync, SyncResult
from hyperkube_host.kubelet.pod_workers.status_reporter import StatusReporter
from hyperkube_host.kubelet.pod_workers.worker_services import WorkerServices
from hyperkube_host.kubelet.types.pod_status import Failure
from hyperkube_host.kubelet.types.pod_update import describe
from hyperkube_host.kubelet.volumemanager.volume_manager import VolumeManager

from hyperkube.hookspecs.runtime import RuntimeFailed, Simulated
from hyperkube.kinds.pods import TERMINAL_PHASES, is_terminal
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import is_being_deleted, uid_of
from hyperkube.machinery.times import parse_time
from hyperkube.plugin.failures import culprit, described

BACK_OFF_SECONDS, JITTER = 10.0, 0.5
"""The time until a failed sync is tried again, and the share of it that is added at random."""
REPORT_RETRY_SECONDS = 1.0
NETWORK_RETRY_SECONDS = 1.0
UNMOUNT_RETRY_SECONDS = 2.0
MOST_PASSES = 2
"""How often one sync looks at the runtime again after it changed something there itself."""
_DEADLINE_TEXT = "Pod was active on the node longer than the specified deadline"


class PodWorker:
    """Syncs pods, one step at a time; the state of each is in its `PodEntry`."""

    def __init__(self, services: WorkerServices) -> None:
        self._services = services
        self._is_simulated = isinstance(services.runtime, Simulated)
        self._sync = PodSync(services)
        self._reporter = StatusReporter(services)
        self._logger = logging.getLogger("hyperkube.kubelet")

    def sync(self, entry: PodEntry) -> None:
        """Take one pod as far as it goes now."""
        try:
            self._sync_once(entry)
        except RuntimeFailed as error:
            self._logger.warning("pod %s could not be synced yet: %s", describe(entry.pod), error)
            self._retry(entry)
        except Exception as error:
            if culprit(error):  # a plugin's bug: the log names it, and so do the pod's events
                text = f"Error syncing pod, skipping: {described(error)}"
                self._services.recorder.pod_event(entry.pod, "Warning", "FailedSync", text)
            raise

    def _sync_once(self, entry: PodEntry) -> None:
        if entry.state is PodState.REJECTED:
            self._sync_rejected(entry)
            return
        pod_status = self._pod_status(entry)
        if not entry.must_terminate and not self._may_run(entry, pod_status):
            return
        # Asked again: `_may_run` may have found that the pod has ended before, or is over its deadline.
        if not entry.must_terminate:
            pod_status = self._sync_running(entry, pod_status)
        if entry.must_terminate:
            self._terminate(entry, pod_status)

    def _pod_status(self, entry: PodEntry) -> PodStatus:
        found = get_pod_status(self._services.runtime, uid_of(entry.pod))
        entry.observed = found.signature()
        return found

    def _retry(self, entry: PodEntry) -> None:
        """Sync the pod again after the back-off of failed syncs."""
        jitter = random.uniform(1.0, 1.0 + JITTER)  # noqa: S311  spreads the retries of many pods, no secret
        self._services.requeue_after(uid_of(entry.pod), BACK_OFF_SECONDS * jitter)

    # admission

    def _may_run(self, entry: PodEntry, pod_status: PodStatus) -> bool:
        """Admit the pod once; note when it ended under an earlier kubelet, or is over its deadline."""
        if is_terminal(entry.pod):
            entry.state = PodState.TERMINATING
            return True
        if entry.state is PodState.PENDING and not self._admit(entry, pod_status):
            return False
        self._check_active_deadline(entry)
        return True

    def _admit(self, entry: PodEntry, pod_status: PodStatus) -> bool:
        from hyperkube_host.kubelet.status.api_pod_status import rejected_status

        # A pod that has containers was admitted by an earlier kubelet: rejecting it now would kill it.
        admission = self._services.admission.admit(entry, is_running=bool(pod_status.containers))
        if admission.waits:
            # The pods that make room for it are being stopped: each end of one looks at it again.
            return False
        if admission.failure is None:
            return True
        failure = admission.failure
        self._services.recorder.pod_event(entry.pod, "Warning", failure.reason, failure.message)
        entry.rejection = rejected_status(entry.pod, failure, self._services.clock.now())
        self._sync_rejected(entry)
        return False

    def _sync_rejected(self, entry: PodEntry) -> None:
        if entry.rejection is not None:
            self._reporter.write(entry, entry.rejection)
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
        self._services.recorder.pod_event(entry.pod, "Normal", "DeadlineExceeded", _DEADLINE_TEXT)
        entry.failure = Failure("DeadlineExceeded", _DEADLINE_TEXT)

    # running

    def _sync_running(self, entry: PodEntry, pod_status: PodStatus) -> PodStatus:
        """Report the pod as it is, then bring it further; return what the runtime has of it afterwards."""
        for _ in range(MOST_PASSES):
            is_new = pod_status.sandbox is None
            self._services.allocations.sync(entry, pod_status)
            found = self._reporter.compute(entry, pod_status)
            if found.phase in TERMINAL_PHASES:
                entry.state = PodState.TERMINATING
                return pod_status
            # People should see that the node has taken a pod before its volumes and sandbox, which may take long; of a
            # simulated one the first report tells more after the first pass.
            if not (is_new and self._is_simulated):
                self._reporter.report(entry, found)
            if self._waits_for_network(entry):
                return pod_status
            result = self._run(entry, pod_status, restarts_all=found.restarts_all)
            self._requeue(entry, result)
            if not result.changed:
                return pod_status
            pod_status = self._pod_status(entry)
            if entry.must_terminate:  # it was deleted meanwhile, or gave up
                return pod_status
        self._services.requeue_after(uid_of(entry.pod), 0.0)
        return pod_status

    def _waits_for_network(self, entry: PodEntry) -> bool:
        problem = "" if entry.pod["spec"].get("hostNetwork") else self._services.network_problem()
        if problem:
            self._services.recorder.pod_event(
                entry.pod, "Warning", "NetworkNotReady", f"network is not ready: {problem}"
            )
            self._services.requeue_after(uid_of(entry.pod), NETWORK_RETRY_SECONDS)
        return bool(problem)

    def _run(self, entry: PodEntry, pod_status: PodStatus, *, restarts_all: bool) -> SyncResult:
        from hyperkube_host.kubelet.kuberuntime.pod_actions import compute_pod_actions

        probes = self._services.probes
        if restarts_all:
            return self._sync.reset(entry, pod_status)
        pod = self._services.allocations.allocated(entry.pod)
        actions = compute_pod_actions(
            pod,
            pod_status,
            failed_probes=probes.failed(),
            is_started=probes.is_started,
            resize_restarts=self._services.allocations.restarts(pod, pod_status),
        )
        return self._sync.run(entry, pod_status, actions, partial(self._reporter.sandbox_is_ready, entry))

    def _requeue(self, entry: PodEntry, result: SyncResult) -> None:
        if result.failed:
            self._retry(entry)
        if result.wait_seconds is not None:
            self._services.requeue_after(uid_of(entry.pod), result.wait_seconds)

    # terminating

    def _terminate(self, entry: PodEntry, pod_status: PodStatus) -> None:
        services, pod = self._services, entry.pod
        if entry.state is not PodState.TERMINATED:
            entry.state = PodState.TERMINATING
            if pod_status.running():
                self._reporter.report(entry, self._reporter.compute(entry, pod_status))
            services.probes.stop_liveness_and_startup(uid_of(pod))
            self._sync.kill_pod(entry, pod_status)
            services.probes.remove_pod(uid_of(pod))
            pod_status = self._pod_status(entry)
            if pod_status.running():
                raise RuntimeFailed("containers run on after they were stopped")
            entry.waiting.clear()
        # The final status is written while the containers' message files still exist, before the volumes are gone.
        if not self._reporter.report(entry, self._reporter.compute(entry, pod_status, is_terminal=True)):
            return
        if entry.state is not PodState.TERMINATED:
            if services.volumes is not None and not self._tear_down(entry, services.volumes):
                return
            entry.state = PodState.TERMINATED
            services.allocations.forget(uid_of(pod))
            services.terminated(uid_of(pod))
        # Deleted last: once the pod is gone from the API, its name and its node's resources are given to another one.
        if is_being_deleted(pod) and not entry.removed:
            self._delete(entry)

    def _tear_down(self, entry: PodEntry, volumes: VolumeManager) -> bool:
        """Tell whether the pod's volumes are torn down, or are to stay as long as it is in the API."""
        if self._services.keeps_volumes and not entry.removed and not is_being_deleted(entry.pod):
            return True
        if volumes.teardown(entry.pod):
            return True
        self._services.requeue_after(uid_of(entry.pod), UNMOUNT_RETRY_SECONDS)
        return False

    def _delete(self, entry: PodEntry) -> None:
        if self._services.status_target(entry.pod) is not entry.pod:
            return  # a static pod; its mirror is deleted by `MirrorPods`
        try:
            self._services.statuses.delete_pod(entry.pod)
        except (ApiError, ConnectionError) as error:
            self._logger.warning("pod %s could not be deleted yet: %s", describe(entry.pod), error)
            self._services.requeue_after(uid_of(entry.pod), REPORT_RETRY_SECONDS)
