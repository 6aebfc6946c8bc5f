"""The loop around the decisions: claims pods, writes the status first, then acts on the pods."""

from __future__ import annotations

from hyperkube_controller.job.backoff import NO_FAILURES, BackoffRecord
from hyperkube_controller.job.decision import Decision, NewPod, decide
from hyperkube_controller.job.failed_indexes import failure_annotations, has_limit_per_index
from hyperkube_controller.job.metrics import JobMetrics, Measured, action_of
from hyperkube_controller.job.pods import COMPLETION_INDEX, FINALIZER, is_managed_elsewhere
from hyperkube_lib.controller_refs import ControllerRefManager, candidates, watch_orphans
from hyperkube_lib.pod_control import PodControl

from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Expectations, Written
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds import workloads
from hyperkube.kinds.resources import JOBS, PODS
from hyperkube.kinds.workloads import label_selector_of
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    has_finalizer,
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

_GENERATE_NAME_MAX = 58


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
        self._written = Written()
        self._backoff: dict[str, tuple[str, BackoffRecord]] = {}
        self._jobs = self.informers.informer(JOBS)
        self._pods = self.informers.informer(PODS)
        self._pods.add_index("controller", workloads.controller_index)
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync_measured,
            clock=clock,
            logger=self.context.logger,
            workers=self.settings(Settings).concurrent_job_syncs,
        )
        self._loop.watch(self._jobs)
        self._jobs.add_handler(on_delete=lambda job: self._expectations.forget(key_of(job)))
        self._pods.add_handler(self._pod_added, self._pod_updated, self._pod_gone)
        watch_orphans(self._loop, self._pods, self._jobs, label_selector_of)
        return self._loop

    def _job_key(self, pod: Object) -> str:
        owner = controller_of(pod)
        if owner is None or owner.get("kind") != "Job":
            return ""
        return f"{namespace_of(pod)}/{owner['name']}"

    def _pod_added(self, pod: Object) -> None:
        self._metrics.seen(pod)
        if is_being_deleted(pod):
            # After a restart a pod may come up that is going already: that is no creation that was expected.
            self._pod_gone(pod)
            return
        key = self._job_key(pod)
        if key:
            self._expectations.creation_observed(key)
            self._loop.queue.add(key)

    def _pod_updated(self, old: Object, new: Object) -> None:
        self._metrics.seen(new, old)
        if is_being_deleted(new) and not is_being_deleted(old):
            self._pod_gone(new)
            return
        for key in {self._job_key(old), self._job_key(new)} - {""}:
            self._loop.queue.add(key)

    def _pod_gone(self, pod: Object) -> None:
        key = self._job_key(pod)
        if key:
            self._expectations.deletion_observed(key, uid_of(pod))
            self._loop.queue.add(key)
        elif controller_of(pod) is None and has_finalizer(pod, FINALIZER):
            self._release(pod)

    def _sync_measured(self, key: str) -> float | None:
        job = self._jobs.get(*split_key(key))
        with self._metrics.sync(job, self.context.clock) as measured:
            return self._sync(key, measured)

    def _sync(self, key: str, measured: Measured) -> float | None:
        job = self._jobs.get(*split_key(key))
        if job is None:
            self._expectations.forget(key)
            self._written.forget(key)
            self._backoff.pop(key, None)
            self._release_orphans(key)
            return None
        if is_managed_elsewhere(job):
            self._metrics.by_external_controller(job)
            return None
        if self._written.is_stale(key, job):
            self._metrics.stale()
            return None  # what is missing comes with an event
        if not self._expectations.satisfied(key):
            return None
        pods = self._claimed(job)
        if is_being_deleted(job):
            for pod in pods:
                if has_finalizer(pod, FINALIZER):
                    self._release(pod)
            return None
        uid, backoff = self._backoff.get(key, ("", NO_FAILURES))
        if uid != uid_of(job):
            backoff = NO_FAILURES
        decision = decide(job, pods, self.context.clock.now(), backoff)
        measured.action = action_of(decision)
        return self._act(key, job, decision)

    def _claimed(self, job: Object) -> list[Object]:
        """Return the job's pods; those that it adopts are counted from then on, those that it releases no more."""
        manager = ControllerRefManager(self.client, job, JOBS, "Job", label_selector_of(job), finalizers=[FINALIZER])
        return manager.claim(PODS, candidates(self._pods, job))

    def _release_orphans(self, key: str) -> None:
        """Let the pods of a job that is gone go: no status will count them any more."""
        namespace, name = split_key(key)
        for pod in self._pods.list(namespace):
            if self._job_key(pod) == key and has_finalizer(pod, FINALIZER):
                owner = controller_of(pod)
                job = self._jobs.get(namespace, name)
                if owner is not None and (job is None or uid_of(job) != owner.get("uid")):
                    self._release(pod)

    def _act(self, key: str, job: Object, decision: Decision) -> float | None:
        if decision.status != (job.get("status") or {}):
            changed = {**job, "status": decision.status}
            self._written.note(key, self.client.update(JOBS, changed, namespace_of(job), subresource="status"))
            self._metrics.status_written(job, decision.status)
        self._metrics.handled_by_failure_policy(decision.policy_actions)
        self._backoff[key] = (uid_of(job), decision.backoff)
        for event in decision.events:
            self._recorder.event(job, *event)
        for pod in decision.release:
            self._release(pod)
        pods = [pod_of(job, new) for new in decision.create]
        failures = self._pod_control.manage(key, job, create=pods, delete=decision.delete)
        self._metrics.pods_created(job, decision.create, failures)
        if failures:
            raise failures[0]
        return decision.again

    def _release(self, pod: Object) -> None:
        left = metadata(without_finalizer(pod, FINALIZER))["finalizers"]
        patch = {"metadata": {"uid": uid_of(pod), "finalizers": left}}
        try:
            self.client.patch(PODS, name_of(pod), patch, namespace_of(pod))
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
