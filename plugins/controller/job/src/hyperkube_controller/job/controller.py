"""The loop around the decisions: claims pods, creates or deletes some, and writes the status in two steps.

Pods come first, so that the status tells how many there are, and not how many there should be: a quota may refuse them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_controller.job.failed_indexes import failure_annotations, has_limit_per_index
from hyperkube_controller.job.finalizer_expectations import FinalizerExpectations
from hyperkube_controller.job.metrics import JobMetrics, Measured, action_of
from hyperkube_controller.job.pods import COMPLETION_INDEX, FINALIZER, is_managed_elsewhere, is_tracked
from hyperkube_lib.controller_refs import ControllerRefManager, candidates, watch_orphans
from hyperkube_lib.pod_control import Failure, Outcome, PodControl, all_at_once

from hyperkube.client.client import JSON_PATCH
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Expectations, Written
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds import workloads
from hyperkube.kinds.resources import JOBS, PODS
from hyperkube.kinds.workloads import label_selector_of
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    is_being_deleted,
    key_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
    uid_of,
    without_finalizer,
)
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from hyperkube_controller.job.backoff import BackoffRecord
    from hyperkube_controller.job.decision import Decision, NewPod
    from hyperkube_controller.job.tracking import Tracking

_GENERATE_NAME_MAX = 58
_API_BACKOFF = Backoff(initial=1.0, cap=60.0)
"""After a failed sync. A quota that refuses pods fails one after each change of a pod: without the cap, a job that has
room again would wait for a quarter of an hour."""
_COMPLETION_MODES = {"Indexed", "NonIndexed"}
_ORPHAN = "orphan:"
"""Begins the keys of pods that no controller has but the finalizer for tracking, in the queue of the jobs."""


class Settings(Record):
    """How many jobs are synced at once."""

    concurrent_job_syncs: int = 5


class Job(Plugin):
    """Runs jobs to completion."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        clock = self.context.clock
        self._recorder = EventRecorder(self.client, clock, "job-controller")
        self._expectations = Expectations(clock)
        self._pod_control = PodControl(self.client, self._recorder, self._expectations)
        self._metrics = JobMetrics()
        self._metrics.register(self.context)
        self._removals = FinalizerExpectations()
        self._written = Written()
        self._backoff: dict[str, tuple[str, BackoffRecord]] = {}
        self._jobs = self.informers.informer(JOBS)
        self._pods = self.informers.informer(PODS)
        self._pods.add_index("controller", workloads.controller_index)
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=clock,
            logger=self.context.logger,
            workers=self.settings(Settings).concurrent_job_syncs,
            backoff=_API_BACKOFF,
        )
        self._loop.watch(self._jobs)
        self._jobs.add_handler(
            self._metrics.by_external_controller, on_delete=lambda job: self._expectations.forget(key_of(job))
        )
        self._pods.add_handler(self._pod_added, self._pod_updated, self._pod_gone)
        watch_orphans(self._loop, self._pods, self._jobs, label_selector_of)
        return self._loop

    def _job_key(self, pod: Object) -> str:
        owner = controller_of(pod)
        if owner is None or owner.get("kind") != "Job" or owner.get("apiVersion") != JOBS.api_version:
            return ""
        return f"{namespace_of(pod)}/{owner['name']}"

    def _pod_added(self, pod: Object) -> None:
        self._metrics.seen(pod)
        if is_being_deleted(pod):
            # After a restart a pod may come up that is going already: that is no creation that was expected.
            self._pod_going(pod)
            return
        key = self._job_key(pod)
        if key:
            self._expectations.creation_observed(key)
            self._loop.queue.add(key)
        else:
            self._release_orphan(pod)

    def _pod_updated(self, old: Object, new: Object) -> None:
        self._metrics.seen(new, old)
        if is_being_deleted(new) and not is_being_deleted(old):
            self._pod_going(new)
            return
        for key in {self._job_key(old), self._job_key(new)} - {""}:
            if not is_tracked(new):
                self._removals.observed(key, uid_of(new))
            self._loop.queue.add(key)
        self._release_orphan(new)

    def _pod_gone(self, pod: Object) -> None:
        self._removals.observed(self._job_key(pod), uid_of(pod))
        self._pod_going(pod)

    def _pod_going(self, pod: Object) -> None:
        key = self._job_key(pod)
        if not key:
            self._release_orphan(pod)
            return
        self._expectations.deletion_observed(key, uid_of(pod))
        if not is_tracked(pod):
            self._removals.observed(key, uid_of(pod))
        self._loop.queue.add(key)

    def _release_orphan(self, pod: Object) -> None:
        """Let a pod go that no controller has: no status will count it."""
        if controller_of(pod) is None and is_tracked(pod):
            self._loop.queue.add(f"{_ORPHAN}{key_of(pod)}")

    def _sync(self, key: str) -> float | None:
        from hyperkube_controller.job.decision import is_finished

        if key.startswith(_ORPHAN):
            self._sync_orphan(key.removeprefix(_ORPHAN))
            return None
        job = self._jobs.get(*split_key(key))
        if job is None:
            self._expectations.forget(key)
            self._removals.forget(key)
            self._written.forget(key)
            self._backoff.pop(key, None)
            self._release_left_behind(key)
            return None
        if is_managed_elsewhere(job):
            return None
        if self._written.is_stale(key, job):
            self._metrics.stale()
            return None  # what is missing comes with an event
        if is_finished(job):
            self._backoff.pop(key, None)
            self._release_all_of(job)
            return None
        if (job.get("spec") or {}).get("completionMode", "Indexed") not in _COMPLETION_MODES:
            text = "Skipped Job sync because completion mode is unknown"
            self._recorder.event(job, "Warning", "UnknownCompletionMode", text)
            return None
        with self._metrics.sync(job, self.context.clock) as measured:
            return self._reconcile(key, job, measured)

    def _sync_orphan(self, key: str) -> None:
        pod = self._pods.get(*split_key(key))
        if pod is not None and controller_of(pod) is None and is_tracked(pod):
            self._release(pod)

    def _release_all_of(self, job: Object) -> None:
        """Let the pods of a job go that has finished: no status will count them any more."""
        for pod in self._pods.by_index("controller", f"{namespace_of(job)}/{uid_of(job)}"):
            if is_tracked(pod):
                self._release(pod)

    def _release_left_behind(self, key: str) -> None:
        """Let the pods go of a job that is gone."""
        namespace, _ = split_key(key)
        for pod in self._pods.list(namespace):
            if self._job_key(pod) == key and is_tracked(pod):
                self._release(pod)

    def _reconcile(self, key: str, job: Object, measured: Measured) -> float | None:
        from hyperkube_controller.job.backoff import NO_FAILURES
        from hyperkube_controller.job.decision import decide
        from hyperkube_controller.job.tracking import track

        # Expectations are asked before the pods are listed: a pod that the watch shows in between is then not missed.
        settled = self._expectations.satisfied(key)
        released = self._removals.of(key)
        pods = [without_finalizer(pod, FINALIZER) if uid_of(pod) in released else pod for pod in self._claimed(job)]
        uid, backoff = self._backoff.get(key, ("", NO_FAILURES))
        if uid != uid_of(job):
            backoff = NO_FAILURES
        decision = decide(job, pods, self.context.clock.now(), backoff, settled=settled)
        measured.action = action_of(decision)
        outcome = self._manage(key, job, decision)
        tracking = track(decision, job, outcome, self.context.clock.now())
        for event in tracking.events:
            self._recorder.event(job, *event)
        written = self._write_status(key, job, tracking.status)
        self._backoff[key] = (uid_of(job), decision.backoff)
        self._metrics.handled_by_failure_policy(tracking.policy_actions)
        self._finish(key, written, tracking)
        if outcome.failures:
            raise outcome.failures[0]
        return decision.again

    def _claimed(self, job: Object) -> list[Object]:
        """Return the job's pods; those that it adopts are counted from then on, those that it releases no more."""
        manager = ControllerRefManager(self.client, job, JOBS, "Job", label_selector_of(job), finalizers=[FINALIZER])
        return manager.claim(PODS, candidates(self._pods, job))

    def _manage(self, key: str, job: Object, decision: Decision) -> Outcome:
        """Create and delete pods; one that is too many loses its finalizer first."""
        if decision.ending is not None:
            return self._pod_control.delete(key, job, decision.delete)
        outcome = self._pod_control.carry_out(
            key,
            job,
            create=[pod_of(job, new) for new in decision.create],
            delete=decision.delete,
            before_delete=lambda pod: self._release(pod) if is_tracked(pod) else None,
        )
        if decision.create:
            self._metrics.pods_created(job, decision.count, outcome.created, len(outcome.failures))
        return outcome

    def _finish(self, key: str, job: Object, tracking: Tracking) -> None:
        """Take the finalizer off the pods that the written status lists, and count them; declare the end of the job.

        Raises:
            ApiError: a finalizer could not be removed; those that could be are counted.
        """
        from hyperkube_controller.job.tracking import counted, finished

        kept, failures = self._remove_finalizers(key, tracking.release)
        left = {uid_of(pod) for pod in tracking.release if uid_of(pod) in kept}
        released = {uid_of(pod) for pod in tracking.release} - left
        status = counted(tracking.status, released)
        if failures:
            self._write_status(key, job, status)
            raise failures[0]
        status, events = finished(job, tracking, status, self.context.clock.now())
        self._write_status(key, job, status)
        for event in events:
            self._recorder.event(job, *event)

    def _remove_finalizers(self, key: str, pods: list[Object]) -> tuple[set[str], list[Failure]]:
        """Return the uids of the pods that keep the finalizer since the request failed, and the failures."""
        if not pods:
            return set(), []
        kept: set[str] = set()

        def remove(pod: Object) -> None:
            try:
                self._release(pod)
            except (ApiError, OSError):
                self._removals.observed(key, uid_of(pod))
                kept.add(uid_of(pod))
                raise

        self._removals.expect(key, map(uid_of, pods))
        return kept, all_at_once(pods, remove)

    def _write_status(self, key: str, job: Object, status: Object) -> Object:
        """Write the job's status if it differs from what the job has; return the job as it is then."""
        before = job.get("status") or {}
        if status == before:
            return job
        written = self.client.update(JOBS, {**job, "status": status}, namespace_of(job), subresource="status")
        self._written.note(key, written)
        self._metrics.status_written(job, before, status)
        return {**written, "status": status}

    def _release(self, pod: Object) -> None:
        """Take the finalizer for tracking off a pod, and no other that came meanwhile."""
        place = (metadata(pod).get("finalizers") or []).index(FINALIZER)
        path = f"/metadata/finalizers/{place}"
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": uid_of(pod)},
            {"op": "test", "path": path, "value": FINALIZER},
            {"op": "remove", "path": path},
        ]
        try:
            self.client.patch(PODS, name_of(pod), patch, namespace_of(pod), patch_type=JSON_PATCH)
        except NotFound:
            return  # gone, which is as good
        self._metrics.released(pod)


def pod_of(job: Object, new: NewPod) -> Object:
    """Return the pod to create, with its completion index and hostname where the job is indexed."""
    reference = workloads.controller_reference(job, "batch/v1", "Job")
    template = (job.get("spec") or {}).get("template") or {}
    pod = workloads.pod_from_template(template, job, reference, generate_name=_generate_name(job, new.index))
    meta, spec = pod["metadata"], pod["spec"]
    meta["finalizers"] = [*(name for name in meta.get("finalizers") or [] if name != FINALIZER), FINALIZER]
    if new.index is None:
        return pod
    annotations = {COMPLETION_INDEX: str(new.index)}
    if has_limit_per_index(job):
        annotations |= failure_annotations(job, new.replaced)
    meta["annotations"] = {**(meta.get("annotations") or {}), **annotations}
    meta["labels"] = {**(meta.get("labels") or {}), COMPLETION_INDEX: str(new.index)}
    spec["hostname"] = f"{name_of(job)}-{new.index}"
    path = {"fieldRef": {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}}
    for container in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]:
        env = container.setdefault("env", [])
        if not any(entry.get("name") == "JOB_COMPLETION_INDEX" for entry in env):
            env.append({"name": "JOB_COMPLETION_INDEX", "valueFrom": path})
    return pod


def _generate_name(job: Object, index: int | None) -> str:
    """Return the prefix of a pod's name; the index stays whole where the job's name is long."""
    suffix = "-" if index is None else f"-{index}-"
    name = name_of(job)
    return (name if index is None else name[: _GENERATE_NAME_MAX - len(suffix)]) + suffix


__all__ = ["Job", "pod_of"]
