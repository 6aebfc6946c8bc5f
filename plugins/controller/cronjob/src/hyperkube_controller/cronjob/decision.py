"""What a cron job needs now: a new job, the end of an old one, a truer status.

Source: kubernetes ``pkg/controller/cronjob/cronjob_controllerv2.go`` and ``utils.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import Any

from hyperkube_controller.cronjob.schedule import BadSchedule, Schedule, parse, zone_named

from hyperkube.kinds.conditions import is_true
from hyperkube.kinds.workloads import controller_reference
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    copy_object,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    uid_of,
)
from hyperkube.machinery.times import format_time, parse_time

SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
MANY = 100
_SLACK = 0.1
_STILL_RUNS = "Not starting job because prior execution is running and concurrency policy is Forbid"
_NEVER = "time difference between two schedules is less than 1 second"
_UNSUPPORTED = (
    "CRON_TZ or TZ used in schedule {} is not officially supported, "
    "see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)
_TOO_MANY = (
    "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"  # as upstream
)


@dataclass(slots=True)
class Decision:
    """What to do about a cron job.

    Attributes:
        status: the status to write.
        events: (type, reason, message) about the cron job.
        replace: active jobs that are to make room for the new one; the status still lists them.
        forget: old jobs beyond the limits of the history.
        create: the job to create, to be noted in the status with `scheduled`.
        scheduled: the time for which it is created.
        again: seconds after which to look again, or None.
    """

    status: Object
    events: list[tuple[str, str, str]] = field(default_factory=list)
    replace: list[Object] = field(default_factory=list)
    forget: list[Object] = field(default_factory=list)
    create: Object | None = None
    scheduled: datetime | None = None
    again: float | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """Where a schedule stands: since when it was looked at, the last time that was due, how many were not served."""

    since: datetime
    latest: datetime | None
    count: int


def ending(job: Object) -> str:
    """Return ``Complete`` or ``Failed``, or the empty string while the job runs."""
    status = job.get("status") or {}
    return next((kind for kind in ("Complete", "Failed") if is_true(status, kind)), "")


def due(cron_job: Object, schedule: Schedule, now: datetime, *, with_deadline: bool = True) -> Due:
    """Return the last time up to `now` that the schedule was due and no job was started for.

    Raises:
        BadSchedule: the schedule never comes (the 31st of February), or more than once a second.
    """
    last = (cron_job.get("status") or {}).get("lastScheduleTime") or metadata(cron_job)["creationTimestamp"]
    since = parse_time(last)
    deadline = (cron_job.get("spec") or {}).get("startingDeadlineSeconds")
    if with_deadline and deadline is not None:
        since = max(since, now - timedelta(seconds=deadline))
    first = schedule.next(since)
    if first is None:
        raise BadSchedule(_NEVER)
    if now < first:
        return Due(since, None, 0)
    second = schedule.next(first)
    if second is None or now < second:
        return Due(since, first, 1)
    between = round((second - first).total_seconds())
    if between < 1:
        raise BadSchedule(_NEVER)
    count = int((now - first).total_seconds()) // between + 1
    # By the distance of the first two: where others are further apart, none may lie between there and now.
    latest: datetime | None = None
    moment: datetime | None = schedule.next(first + timedelta(seconds=max(0, count - 2) * between))
    while moment is not None and moment <= now:
        latest = moment
        moment = schedule.next(moment)
    return Due(since, latest, count)


def decide(cron_job: Object, jobs: Sequence[Object], now: datetime) -> Decision:
    """Return what the cron job needs.

    Args:
        cron_job: the CronJob.
        jobs: all jobs it controls.
        now: the time.
    """
    decision = Decision(copy_object(cron_job.get("status") or {}))
    _take_stock(decision, jobs)
    _forget_old(decision, cron_job, jobs)
    spec = cron_job.get("spec") or {}
    if is_being_deleted(cron_job):
        return decision
    zone_name = spec.get("timeZone")
    try:
        zone = zone_named(zone_name or "")
    except BadSchedule as error:
        decision.events.append(("Warning", "UnknownTimeZone", f'invalid timeZone: "{zone_name}": {error}'))
        return decision
    if spec.get("suspend"):
        return decision
    if "TZ" in spec["schedule"]:
        decision.events.append(("Warning", "UnsupportedSchedule", _UNSUPPORTED.format(f'"{spec["schedule"]}"')))
    try:
        schedule = parse(spec["schedule"], zone)
    except BadSchedule as error:
        text = f'unparseable schedule: "{spec["schedule"]}" : {error}'
        decision.events.append(("Warning", "UnparseableSchedule", text))
        return decision
    try:
        found = due(cron_job, schedule, now)
    except BadSchedule as error:
        decision.events.append(("Warning", "InvalidSchedule", f"invalid schedule: {spec['schedule']} : {error}"))
        return decision
    if found.count > MANY:
        decision.events.append(("Warning", "TooManyMissedTimes", _TOO_MANY))
    decision.again = until_next(cron_job, schedule, now)
    if found.latest is not None:
        _start(decision, cron_job, jobs, found.latest, now)
    return decision


def _take_stock(decision: Decision, jobs: Sequence[Object]) -> None:
    """Bring the list of active jobs and the time of the last success up to date."""
    status = decision.status
    active = {row.get("uid"): row for row in status.get("active") or []}
    known = {uid_of(job) for job in jobs}
    for job in jobs:
        end = ending(job)
        if not end and uid_of(job) not in active:
            text = f"Saw a job that the controller did not create or forgot: {name_of(job)}"
            decision.events.append(("Warning", "UnexpectedJob", text))
        elif end and uid_of(job) in active:
            del active[uid_of(job)]
            text = f"Saw completed job: {name_of(job)}, condition: {end}"
            decision.events.append(("Normal", "SawCompletedJob", text))
        ended = (job.get("status") or {}).get("completionTime", "")
        if end == "Complete" and ended > status.get("lastSuccessfulTime", ""):
            status["lastSuccessfulTime"] = ended
    for uid, row in [*active.items()]:
        if uid not in known:
            del active[uid]
            decision.events.append(("Normal", "MissingJob", f"Active job went missing: {row.get('name')}"))
    _set_active(status, [*active.values()])


def _set_active(status: Object, rows: list[Object]) -> None:
    """Write the list of active jobs."""
    if rows:
        status["active"] = rows
    else:
        status.pop("active", None)


def _forget_old(decision: Decision, cron_job: Object, jobs: Sequence[Object]) -> None:
    """Delete the oldest ended jobs beyond the limits of the history."""
    spec = cron_job.get("spec") or {}
    for end, limit in (("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")):
        keep = spec.get(limit)
        if keep is None:
            continue
        ended = sorted((job for job in jobs if ending(job) == end and not is_being_deleted(job)), key=_age)
        decision.forget += ended[: max(0, len(ended) - keep)]


def _age(job: Object) -> tuple[bool, str, str]:
    """Order jobs by when they started; those that never did come last."""
    started = (job.get("status") or {}).get("startTime", "")
    return not started, started, name_of(job)


def without_active(status: Object, uid: str) -> None:
    """Take a job off the list of active ones."""
    _set_active(status, [row for row in status.get("active") or [] if row.get("uid") != uid])


def until_next(cron_job: Object, schedule: Schedule, now: datetime) -> float | None:
    """Return the seconds until a moment after the next time that the schedule is due, or None if it never is again."""
    try:
        found = due(cron_job, schedule, now, with_deadline=False)
    except BadSchedule:
        found = Due(now, None, 0)
    base = found.latest or (now if found.count else found.since)
    following = schedule.next(base)
    if following is not None and following <= now:  # an interval counted from long ago
        following = schedule.next(now)
    return None if following is None else (following - now).total_seconds() + _SLACK


def _start(decision: Decision, cron_job: Object, jobs: Sequence[Object], moment: datetime, now: datetime) -> None:
    """Create the job of a moment unless it is too late, done already, or in the way of another one."""
    spec, status = cron_job.get("spec") or {}, decision.status
    deadline = spec.get("startingDeadlineSeconds")
    if deadline is not None and moment + timedelta(seconds=deadline) < now:
        when = moment.astimezone(UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
        decision.events.append(("Warning", "MissSchedule", f"Missed scheduled time to start a job: {when}"))
        return
    active = status.get("active") or []
    name = job_name(cron_job, moment)
    if status.get("lastScheduleTime") == format_time(moment) or any(row.get("name") == name for row in active):
        return
    policy = spec.get("concurrencyPolicy", "Allow")
    if policy == "Forbid" and active:
        decision.events.append(("Normal", "JobAlreadyActive", _STILL_RUNS))
        return
    if policy == "Replace":
        uids = {row.get("uid") for row in active}
        decision.replace = [job for job in jobs if uid_of(job) in uids]
    decision.create, decision.scheduled = job_of(cron_job, moment), moment


def job_name(cron_job: Object, moment: datetime) -> str:
    """Return the name of the job of a moment: the same for every caller, so that none is started twice."""
    return f"{name_of(cron_job)}-{int(moment.timestamp()) // 60}"


def job_of(cron_job: Object, moment: datetime) -> Object:
    """Return the job to create for a scheduled moment."""
    spec = cron_job.get("spec") or {}
    template = spec.get("jobTemplate") or {}
    zone = zone_named(spec.get("timeZone") or "")
    stamp = moment.astimezone(zone).isoformat().replace("+00:00", "Z")
    meta: dict[str, Any] = {
        "name": job_name(cron_job, moment),
        "namespace": namespace_of(cron_job),
        "labels": dict(labels_of(template)),
        "annotations": {**annotations_of(template), SCHEDULED_AT: stamp},
        "ownerReferences": [controller_reference(cron_job, "batch/v1", "CronJob")],
    }
    made = {key: value for key, value in meta.items() if value}
    return {"kind": "Job", "apiVersion": "batch/v1", "metadata": made, "spec": copy_object(template.get("spec") or {})}
