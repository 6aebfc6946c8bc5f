"""The loop around the decisions: deletes, creates, then writes down what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.client.actions import Delete, delete
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Written
from hyperkube.client.reconcile import ReconcileLoop, namespace_is_going
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds import workloads
from hyperkube.kinds.resources import CRON_JOBS, JOBS
from hyperkube.machinery.errors import AlreadyExists, ApiError, NotFound
from hyperkube.machinery.metric_families import Histogram, growing
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    key_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import format_time, parse_time
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from hyperkube_controller.cronjob.decision import Decision

_BACKGROUND = {"propagationPolicy": "Background"}


class Settings(Record):
    """How many cron jobs are synced at once."""

    concurrent_cron_job_syncs: int = 5


class Cronjob(Plugin):
    """Starts jobs when they are due."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._recorder = EventRecorder(self.client, self.context.clock, "cronjob-controller")
        self._skew = Histogram(
            "cronjob_controller_job_creation_skew_duration_seconds",
            "Time between when a cronjob is scheduled to be run, and when the corresponding job is created",
            growing(1, 2, 10),
        )
        self._metrics = ControllerMetrics(self._skew)
        self._metrics.register(self.context)
        self._written = Written()
        self._cron_jobs = self.informers.informer(CRON_JOBS)
        self._jobs = self.informers.informer(JOBS)
        self._jobs.add_index("controller", workloads.controller_index)
        loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=self.settings(Settings).concurrent_cron_job_syncs,
        )
        self._loop = loop
        self._cron_jobs.add_handler(loop.enqueue, self._updated, loop.enqueue)
        loop.watch_owned(self._jobs, "CronJob")
        return loop

    def _updated(self, old: Object, new: Object) -> None:
        """Look at a changed cron job: at once, or with a new schedule when that is due for the first time."""
        from hyperkube_controller.cronjob.decision import until_next
        from hyperkube_controller.cronjob.schedule import BadSchedule, parse, zone_named

        spec, before = new.get("spec") or {}, old.get("spec") or {}
        if all(spec.get(key) == before.get(key) for key in ("schedule", "timeZone")):
            self._loop.enqueue(new)
            return
        try:
            schedule = parse(spec["schedule"], zone_named(spec.get("timeZone") or ""))
        except BadSchedule:
            text = f"unparseable schedule for cronjob: {spec['schedule']}"
            self._recorder.event(new, "Warning", "UnParseableCronJobSchedule", text)
            return
        wait = until_next(new, schedule, self.context.clock.now())
        if wait is not None:
            self._loop.queue.add_after(key_of(new), wait)

    def _sync(self, key: str) -> float | None:
        from hyperkube_controller.cronjob.decision import decide

        cron_job = self._cron_jobs.get(*split_key(key))
        if cron_job is None:
            self._written.forget(key)
            return None
        if self._written.is_stale(key, cron_job):
            return None  # what is missing comes with an event
        decision = decide(cron_job, self._children(cron_job), self.context.clock.now())
        for event in decision.events:
            self._recorder.event(cron_job, *event)
        failure: ApiError | OSError | None = None
        try:
            self._start(cron_job, decision)
        except (ApiError, OSError) as error:
            failure = error  # the status is written all the same, and old jobs go: they may be what fills a quota
        for job in decision.forget:
            self._forget(cron_job, job)
        if decision.status != (cron_job.get("status") or {}):
            changed = {**cron_job, "status": decision.status}
            stored = self.client.update(CRON_JOBS, changed, namespace_of(cron_job), subresource="status")
            self._written.note(key, stored)
        if failure is not None:
            raise failure
        return decision.again

    def _start(self, cron_job: Object, decision: Decision) -> None:
        """Delete the jobs that are to be replaced, then create the one that is due."""
        from hyperkube_controller.cronjob.decision import without_active

        for job in decision.replace:
            self._delete(cron_job, job)
            without_active(decision.status, uid_of(job))
        self._create(cron_job, decision)

    def _forget(self, cron_job: Object, job: Object) -> None:
        try:
            self._delete(cron_job, job)
        except ApiError as error:
            self.context.logger.warning("cronjob %r: job %s stays: %s", key_of(cron_job), name_of(job), error)

    def _delete(self, cron_job: Object, job: Object) -> None:
        try:
            was_there = delete(self.client, Delete.of(JOBS, job, _BACKGROUND))
        except ApiError as error:
            self._recorder.event(cron_job, "Warning", "FailedDelete", f"Deleted job: {error}")
            raise
        if was_there:
            self._recorder.event(cron_job, "Normal", "SuccessfulDelete", f"Deleted job {name_of(job)}")

    def _children(self, cron_job: Object) -> list[Object]:
        """Return the cron job's jobs: those in the cache, and the active ones that the cache does not show yet."""
        namespace = namespace_of(cron_job)
        children = list(self._jobs.by_index("controller", f"{namespace}/{uid_of(cron_job)}"))
        known = {uid_of(job) for job in children}
        for row in (cron_job.get("status") or {}).get("active") or []:
            if row.get("uid") not in known:
                try:
                    job = self.client.get(JOBS, row["name"], namespace)
                except NotFound:
                    continue
                if uid_of(job) == row.get("uid"):
                    children.append(job)
        return children

    def _create(self, cron_job: Object, decision: Decision) -> None:
        """Create the job that is due and note it in the status, also one from before a crash."""
        from hyperkube_controller.cronjob.decision import ending

        if decision.create is None or decision.scheduled is None:
            return
        namespace = namespace_of(cron_job)
        try:
            job = self.client.create(JOBS, decision.create, namespace)
        except AlreadyExists:
            job = self.client.get(JOBS, name_of(decision.create), namespace)
            if (controller_of(job) or {}).get("uid") != uid_of(cron_job):
                return
        except ApiError as error:
            if not namespace_is_going(error):
                self._recorder.event(cron_job, "Warning", "FailedCreate", f"Error creating job: {error}")
            raise
        else:
            created = parse_time(metadata(job)["creationTimestamp"])
            self._metrics.observe(self._skew, (created - decision.scheduled).total_seconds())
            self._recorder.event(cron_job, "Normal", "SuccessfulCreate", f"Created job {name_of(job)}")
        reference = {
            "kind": "Job",
            "namespace": namespace,
            "name": name_of(job),
            "uid": uid_of(job),
            "apiVersion": "batch/v1",
            "resourceVersion": metadata(job)["resourceVersion"],
        }
        decision.status["lastScheduleTime"] = format_time(decision.scheduled)
        active = decision.status.get("active") or []
        if not ending(job) and uid_of(job) not in [row.get("uid") for row in active]:
            decision.status["active"] = [*active, reference]
