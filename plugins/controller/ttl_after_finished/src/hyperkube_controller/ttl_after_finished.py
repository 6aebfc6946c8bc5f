"""ttl-after-finished: a job that has ended is deleted after ``ttlSecondsAfterFinished``, and its pods with it.

Source: kubernetes ``pkg/controller/ttlafterfinished/ttlafterfinished_controller.go``.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.client.actions import Action, Again, Delete, perform
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import JOBS
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.metric_families import Histogram, growing
from hyperkube.machinery.objects import Object, is_being_deleted, key_of, split_key
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin


def _end(job: Object) -> Object | None:
    """Return the job's condition Complete or Failed, or None while it runs."""
    for entry in (job.get("status") or {}).get("conditions") or []:
        if entry.get("type") in {"Complete", "Failed"} and entry.get("status") == "True":
            return dict(entry)
    return None


def needs_cleanup(job: Object) -> bool:
    """Tell whether the job has ended and is to be deleted some time after that."""
    return (job.get("spec") or {}).get("ttlSecondsAfterFinished") is not None and _end(job) is not None


def due_at(job: Object) -> datetime | None:
    """Return when the job is to be deleted, or None if it is not.

    Raises:
        NotYet: the job has ended, but does not say when.
    """
    end = _end(job)
    if end is None or not needs_cleanup(job):
        return None
    if not end.get("lastTransitionTime"):
        raise NotYet(f"unable to find the time when the Job {key_of(job)} finished")
    return parse_time(end["lastTransitionTime"]) + timedelta(seconds=job["spec"]["ttlSecondsAfterFinished"])


def decide(job: Object, now: datetime) -> list[Action]:
    """Return the deletion of a job whose time is over, or when to look again.

    Raises:
        NotYet: the job has ended, but does not say when.
    """
    due = due_at(job)
    if due is None or is_being_deleted(job):
        return []
    left = (due - now).total_seconds()
    if left > 0:
        return [Again(left)]
    return [Delete.of(JOBS, job, {"propagationPolicy": "Foreground"})]


class Settings(Record):
    """How many jobs are synced at once."""

    concurrent_ttl_after_finished_syncs: int = 5


class TtlAfterFinished(Plugin):
    """Deletes jobs whose time after their end is over."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._late = Histogram(
            "ttl_after_finished_controller_job_deletion_duration_seconds",
            "The time it took to delete the job since it became eligible for deletion",
            growing(0.1, 2, 14),
        )
        self._metrics = ControllerMetrics(self._late)
        self._metrics.register(self.context)
        self._jobs = self.informers.informer(JOBS)
        loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=self.settings(Settings).concurrent_ttl_after_finished_syncs,
        )

        def seen(job: Object) -> None:
            if needs_cleanup(job) and not is_being_deleted(job):
                loop.enqueue(job)

        self._jobs.add_handler(seen, lambda _old, new: seen(new))
        return loop

    def _sync(self, key: str) -> float | None:
        job = self._jobs.get(*split_key(key))
        if job is None:
            return None
        actions = decide(job, self.context.clock.now())
        if any(isinstance(action, Delete) for action in actions):
            namespace, name = split_key(key)
            try:
                job = self.client.get(JOBS, name, namespace)  # its time may have been prolonged
            except NotFound:
                return None
            actions = decide(job, self.context.clock.now())
        again = perform(self.client, None, actions)
        due = due_at(job)
        if due is not None and any(isinstance(action, Delete) for action in actions):
            self._metrics.observe(self._late, (self.context.clock.now() - due).total_seconds())
        return again
