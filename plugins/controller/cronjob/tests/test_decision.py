"""Decisions on a cron job, case by case, after upstream's ``cronjob_controllerv2_test.go`` and ``utils_test.go``."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hyperkube_controller.cronjob import Cronjob
from hyperkube_controller.cronjob.decision import decide, due, job_of, until_next
from hyperkube_controller.cronjob.schedule import BadSchedule, parse

from hyperkube.kinds.resources import CRON_JOBS, JOBS
from hyperkube.machinery.errors import InternalError
from hyperkube.machinery.times import format_time
from hyperkube.testing.controller_rig import ControllerRig

HOURLY, EVERY_HOUR = "0 * * * ?", "@every 1h"
SHORT, MEDIUM, LONG = 10, 7200, 1_000_000
NEW_YORK = "America/New_York"
HOUR = 3600


def at(time, seconds=0.0, day=19):
    """A time of a day in May 2016."""
    hours, minutes = time.split(":")
    return datetime(2016, 5, day, int(hours), int(minutes), tzinfo=UTC) + timedelta(seconds=seconds)


AFTER_PRIOR, BEFORE_PRIOR, BEFORE, TOP, AFTER = at("9:01"), at("8:59"), at("9:59"), at("10:00"), at("10:01")
A_WEEK_LATER = at("10:00", day=26)


def cron_job(schedule=HOURLY, *, created=BEFORE, last=None, active=(), **spec):
    status = {"active": [{"name": job["metadata"]["name"], "uid": job["metadata"]["uid"]} for job in active]}
    if last is not None:
        status["lastScheduleTime"] = format_time(last)
    template = {"metadata": {"labels": {"a": "b"}, "annotations": {"x": "y"}}, "spec": {"parallelism": 1}}
    return {
        "kind": "CronJob",
        "apiVersion": "batch/v1",
        "metadata": {"name": "mycronjob", "namespace": "d", "uid": "1a2b3c", "creationTimestamp": format_time(created)},
        "spec": {"schedule": schedule, "jobTemplate": template, **spec},
        "status": {key: value for key, value in status.items() if value},
    }


def job(moment, *, ended=False):
    made = job_of(cron_job(), moment)
    made["metadata"]["uid"] = "1234"
    if ended:
        completed = format_time(moment + timedelta(seconds=10))
        made["status"] = {"completionTime": completed, "conditions": [{"type": "Complete", "status": "True"}]}
    return made


def outcome(given, jobs, now):
    """(a job is created, so many are replaced, so many are active then, so many warnings, seconds until the next look)."""
    decision = decide(given, jobs, now)
    active = len(decision.status.get("active", [])) - len(decision.replace) + (decision.create is not None)
    warnings = sum(kind == "Warning" for kind, _, _ in decision.events)
    again = None if decision.again is None else round(decision.again, 3)
    return decision.create is not None, len(decision.replace), active, warnings, again


NOT_TIME, IS_TIME = 60.1, HOUR - 60 + 0.1
POLICIES = ("Allow", "Forbid", "Replace")


def never_ran():
    yield "bad-schedule", {"schedule": "obvious error schedule"}, BEFORE, (False, 0, 0, 1, None)
    yield "bad-zone", {"timeZone": "bad timezone"}, BEFORE, (False, 0, 0, 1, None)
    yield "not-time-in-zone", {"timeZone": NEW_YORK}, BEFORE, (False, 0, 0, 0, NOT_TIME)
    for policy in POLICIES:
        yield f"not-time-{policy}", {"concurrencyPolicy": policy}, BEFORE, (False, 0, 0, 0, NOT_TIME)
        yield f"time-{policy}", {"concurrencyPolicy": policy}, AFTER, (True, 0, 1, 0, IS_TIME)
    local = datetime(2016, 5, 19, 10, 1, tzinfo=ZoneInfo(NEW_YORK))
    missed = (True, 0, 1, 0, IS_TIME)
    yield "time-in-zone", {"timeZone": NEW_YORK}, local, missed
    yield (
        "zone-in-the-schedule-too",
        {"timeZone": NEW_YORK, "schedule": f"TZ=UTC {HOURLY}"},
        local,
        (True, 0, 1, 1, IS_TIME),
    )
    yield "suspended", {"suspend": True}, AFTER, (False, 0, 0, 0, None)
    late = AFTER + timedelta(minutes=SHORT + 1)
    yield "past-deadline", {"startingDeadlineSeconds": SHORT}, late, (False, 0, 0, 0, IS_TIME - 60 * (SHORT + 1))
    yield "within-deadline", {"startingDeadlineSeconds": LONG}, AFTER, (True, 0, 1, 0, IS_TIME)
    every = {"schedule": EVERY_HOUR}
    yield "every-not-time", every, TOP, (False, 0, 0, 0, IS_TIME)
    early = {**every, "created": BEFORE_PRIOR}
    yield "every-time", early, BEFORE, (True, 0, 1, 0, HOUR + 0.1)
    late = BEFORE + timedelta(seconds=SHORT + 1)
    yield "every-past-deadline", {**early, "startingDeadlineSeconds": SHORT}, late, (False, 0, 0, 0, HOUR - 11 + 0.1)
    soon = BEFORE + timedelta(seconds=SHORT - 1)
    yield "every-within-deadline", {**early, "startingDeadlineSeconds": LONG}, soon, (True, 0, 1, 0, HOUR - 9 + 0.1)


@pytest.mark.parametrize(("given", "now", "expected"), [pytest.param(*rest, id=name) for name, *rest in never_ran()])
def test_one_that_never_ran(given, now, expected):
    assert outcome(cron_job(**given), [], now) == expected


def ran_before():
    for policy in POLICIES:
        concurrency = {"concurrencyPolicy": policy}
        yield f"not-time-{policy}", concurrency, BEFORE, (False, 0, 0, 0, NOT_TIME)
        yield f"time-{policy}", concurrency, AFTER, (True, 0, 1, 0, IS_TIME)
        for deadline, warnings in ((None, 1), (LONG, 1), (MEDIUM, 0), (SHORT, 0)):
            spec = concurrency if deadline is None else {**concurrency, "startingDeadlineSeconds": deadline}
            yield f"overdue-{policy}-{deadline}", spec, A_WEEK_LATER, (True, 0, 1, warnings, HOUR + 0.1)
    yield "suspended", {"suspend": True}, AFTER, (False, 0, 0, 0, None)
    yield "past-deadline", {"startingDeadlineSeconds": SHORT}, AFTER, (False, 0, 0, 0, IS_TIME)
    yield "within-deadline", {"startingDeadlineSeconds": LONG}, AFTER, (True, 0, 1, 0, IS_TIME)
    every = {"schedule": EVERY_HOUR, "last": BEFORE}
    yield "every-not-time", every, TOP, (False, 0, 0, 0, IS_TIME)
    yield "every-time", every, at("11:00"), (True, 0, 1, 0, IS_TIME)
    late = at("10:59", SHORT + 1)
    yield "every-past-deadline", {**every, "startingDeadlineSeconds": SHORT}, late, (False, 0, 0, 0, HOUR - 11 + 0.1)
    overdue = {"schedule": EVERY_HOUR, "last": AFTER}
    yield "every-overdue", overdue, A_WEEK_LATER, (True, 0, 1, 1, 60.1)
    later = A_WEEK_LATER + timedelta(seconds=60 + SHORT + 1)
    yield (
        "every-overdue-past-deadline",
        {**overdue, "startingDeadlineSeconds": SHORT},
        later,
        (False, 0, 0, 0, HOUR - 11 + 0.1),
    )


@pytest.mark.parametrize(("given", "now", "expected"), [pytest.param(*rest, id=name) for name, *rest in ran_before()])
def test_one_that_ran_and_ended(given, now, expected):
    ended = job(AFTER_PRIOR, ended=True)
    given = cron_job(**{"created": BEFORE_PRIOR, "last": AFTER_PRIOR, **given})

    assert outcome(given, [ended], now) == expected
    assert decide(given, [ended], now).status["lastSuccessfulTime"] == "2016-05-19T09:01:10Z"


def still_active():
    for policy in POLICIES:
        yield f"not-time-{policy}", {"concurrencyPolicy": policy}, BEFORE, (False, 0, 1, 0, NOT_TIME)
    yield "time-Allow", {}, AFTER, (True, 0, 2, 0, IS_TIME)
    yield "time-Forbid", {"concurrencyPolicy": "Forbid"}, AFTER, (False, 0, 1, 0, IS_TIME)
    yield "time-Replace", {"concurrencyPolicy": "Replace"}, AFTER, (True, 1, 1, 0, IS_TIME)
    yield "suspended", {"suspend": True}, AFTER, (False, 0, 1, 0, None)
    yield "past-deadline", {"startingDeadlineSeconds": SHORT}, AFTER, (False, 0, 1, 0, IS_TIME)
    yield "within-deadline", {"startingDeadlineSeconds": LONG}, AFTER, (True, 0, 2, 0, IS_TIME)
    every = {"schedule": EVERY_HOUR, "last": BEFORE}
    yield "every-not-time", every, TOP, (False, 0, 1, 0, IS_TIME)
    yield "every-time", {**every, "last": BEFORE_PRIOR}, AFTER, (True, 0, 2, 0, HOUR - 120 + 0.1)
    late, soon = at("10:59", SHORT + 1), at("10:59", SHORT - 1)
    yield "every-past-deadline", {**every, "startingDeadlineSeconds": SHORT}, late, (False, 0, 1, 0, HOUR - 11 + 0.1)
    yield "every-within-deadline", {**every, "startingDeadlineSeconds": LONG}, soon, (True, 0, 2, 0, HOUR - 9 + 0.1)


@pytest.mark.parametrize(("given", "now", "expected"), [pytest.param(*rest, id=name) for name, *rest in still_active()])
def test_one_whose_job_still_runs(given, now, expected):
    running = job(AFTER_PRIOR)
    given = cron_job(**{"created": BEFORE_PRIOR, "last": AFTER_PRIOR, "active": [running], **given})

    assert outcome(given, [running], now) == expected


@pytest.mark.parametrize("policy", POLICIES)
def test_the_job_of_this_time_was_started_before(policy):
    started = job(at("10:00", 0.1))
    given = cron_job(
        created=BEFORE_PRIOR,
        last=AFTER_PRIOR,
        active=[started],
        concurrencyPolicy=policy,
        startingDeadlineSeconds=LONG,
    )

    assert outcome(given, [started], AFTER + timedelta(seconds=0.1)) == (False, 0, 1, 0, HOUR - 60)


@pytest.mark.parametrize(
    ("given", "now", "since", "latest", "count"),
    [
        pytest.param({"created": TOP}, at("10:00", 30), TOP, None, "none", id="before-the-next"),
        pytest.param({"created": TOP}, at("11:01"), TOP, at("11:00"), "few", id="just-after-the-next"),
        pytest.param({"created": at("10:00", 10)}, at("15:01"), at("10:00", 10), at("15:00"), "few", id="missed-5"),
        pytest.param(
            {"schedule": "30 6-16/4 * * 1-5", "last": at("10:30")},
            at("10:31", day=20),
            at("10:30"),
            at("10:30", day=20),
            "few",
            id="complex",
        ),
        pytest.param(
            {"schedule": "30 10,11,12 * * 1-5", "last": at("10:30")},
            at("16:30", day=20),
            at("10:30"),
            None,
            "few",
            id="another-complex",
        ),
        pytest.param(
            {"schedule": "30 6-16/4 * * 1-5", "last": at("10:30")},
            at("10:31", day=23),
            at("10:30"),
            at("10:30", day=23),
            "few",
            id="complex-longer-between",
        ),
        pytest.param(
            {"schedule": "30 6-16/4 * * 1-5"},
            at("10:31", day=20),
            TOP,
            at("10:30", day=20),
            "few",
            id="complex-shorter-between",
        ),
        pytest.param(
            {"schedule": EVERY_HOUR, "last": AFTER, "startingDeadlineSeconds": SHORT},
            at("10:00", day=26),
            AFTER,
            at("9:01", day=26),
            "many",
            id="every",
        ),
        pytest.param({"last": TOP}, at("10:00", 30), TOP, None, "none", id="since-both"),
        pytest.param(
            {"schedule": "*/5 * * * *", "last": at("10:30")},
            at("10:31"),
            at("10:30"),
            None,
            "none",
            id="since-the-last",
        ),
        pytest.param(
            {"schedule": "*/5 * * * *", "last": at("10:30"), "startingDeadlineSeconds": 60},
            at("10:31"),
            at("10:30"),
            None,
            "none",
            id="since-the-last-within-the-deadline",
        ),
    ],
)
def test_the_last_time_that_was_due(given, now, since, latest, count):
    given = cron_job(**{"created": TOP, **given})

    found = due(given, parse(given["spec"]["schedule"]), now, with_deadline=False)

    assert (found.since, found.latest) == (since, latest)
    assert (found.count > 0, found.count > 100) == (count != "none", count == "many")


def test_with_a_deadline_nothing_before_it_was_due():
    given = cron_job("*/5 * * * *", created=TOP, last=at("10:30"), startingDeadlineSeconds=60)

    assert due(given, parse("*/5 * * * *"), at("10:32")).since == at("10:31")


def test_a_day_that_never_comes_is_an_error():
    with pytest.raises(BadSchedule):
        due(cron_job(created=at("10:00", 10)), parse("59 23 31 2 *"), at("11:00"))


@pytest.mark.parametrize(
    ("starts", "kept"),
    [
        pytest.param({"b": None, "a": None}, "b", id="neither-started"),
        pytest.param({"a": None, "b": BEFORE}, "a", id="one-did-not-start"),
        pytest.param({"a": BEFORE, "b": None}, "b", id="the-other-did-not"),
        pytest.param({"b": BEFORE, "a": BEFORE}, "b", id="at-the-same-time"),
        pytest.param({"a": AFTER, "b": BEFORE}, "a", id="one-later"),
    ],
)
def test_the_oldest_job_is_forgotten_first(starts, kept):
    jobs = []
    for name, start in starts.items():
        made = job(BEFORE, ended=True)
        made["metadata"] |= {"name": name, "uid": name}
        made["status"] |= {"startTime": format_time(start)} if start else {}
        jobs.append(made)

    forgotten = decide(cron_job(successfulJobsHistoryLimit=1), jobs, BEFORE).forget

    assert {"a", "b"} - {each["metadata"]["name"] for each in forgotten} == {kept}


@pytest.mark.parametrize(
    ("change", "wait"),
    [
        pytest.param({"jobTemplate": {"spec": {"parallelism": 2}}}, 0, id="template"),
        pytest.param({"schedule": "*/1 * * * *"}, 1.1, id="schedule"),
        pytest.param({"schedule": "@every 3m"}, 121.1, id="longer-interval"),
        pytest.param({"timeZone": NEW_YORK, "schedule": "1 19 * * *"}, 1.1, id="zone"),
        pytest.param({"schedule": "nonsense"}, None, id="nonsense"),
    ],
)
def test_a_new_schedule_is_looked_at_when_it_is_due(change, wait):
    rig = ControllerRig(Cronjob)
    start = rig.clock.now()
    rig.clock.advance(59)
    (old,) = rig.client.seed(CRON_JOBS, cron_job("30 * * * *", created=start, last=start))
    rig.informers.refresh()
    rig.controllers[0].drain()
    rig.controllers[0].queue.forget("d/mycronjob")
    waits = []
    rig.controllers[0].queue.add_after = lambda _key, seconds: waits.append(round(seconds, 3))
    rig.controllers[0].queue.add = lambda _key: waits.append(0)

    rig.client.update(CRON_JOBS, {**old, "spec": {**old["spec"], **change}}, "d")
    rig.informers.refresh()

    assert waits == ([] if wait is None else [wait])


def test_jobs_go_and_the_status_is_written_though_a_quota_refuses_a_new_one():
    rig = ControllerRig(Cronjob)
    now = rig.clock.now()
    given = cron_job("* * * * *", created=now - timedelta(seconds=61), successfulJobsHistoryLimit=0)
    ended = job(now - timedelta(hours=1), ended=True)
    given["status"]["active"] = [{"name": ended["metadata"]["name"], "uid": "1234"}]
    rig.client.seed(CRON_JOBS, given)
    rig.client.seed(JOBS, ended)
    rig.client.fail_next("create", "jobs", InternalError("quota for # of jobs reached"))
    rig.informers.refresh()

    rig.controllers[0].drain()

    assert rig.client.objects(JOBS) == []
    status = rig.client.objects(CRON_JOBS)[0]["status"]
    assert "active" not in status
    assert status["lastSuccessfulTime"]


def test_a_job_that_cannot_be_replaced_stays_active_and_no_other_comes():
    rig = ControllerRig(Cronjob)
    now = rig.clock.now()
    running = job(now - timedelta(hours=1))
    given = cron_job("* * * * *", created=now - timedelta(seconds=61), active=[running], concurrencyPolicy="Replace")
    rig.client.seed(CRON_JOBS, given)
    rig.client.seed(JOBS, running)
    rig.client.fail_next("delete", "jobs", InternalError("no"))
    rig.informers.refresh()

    rig.controllers[0].drain()

    assert [each["metadata"]["uid"] for each in rig.client.objects(JOBS)] == ["1234"]
    assert [row["uid"] for row in rig.client.objects(CRON_JOBS)[0]["status"]["active"]] == ["1234"]


@pytest.mark.parametrize(
    ("zone", "stamp"),
    [(None, "2016-05-19T10:00:00Z"), (NEW_YORK, "2016-05-19T06:00:00-04:00")],
    ids=["utc", "new-york"],
)
def test_a_job_is_made_from_the_template(zone, stamp):
    made = job_of(cron_job(timeZone=zone), TOP)

    assert made["metadata"]["name"] == f"mycronjob-{int(TOP.timestamp()) // 60}"
    assert made["metadata"]["labels"] == {"a": "b"}
    assert made["metadata"]["annotations"] == {"x": "y", "batch.kubernetes.io/cronjob-scheduled-timestamp": stamp}
    assert made["spec"] == {"parallelism": 1}


@pytest.mark.parametrize(
    ("schedule", "last", "now", "hours"),
    [
        pytest.param("30 6-16/4 * * 1-5", at("10:30"), TOP + timedelta(hours=24, minutes=31), 3 + 59 / 60, id="every four hours"),
        pytest.param("30 10,11,12 * * 1-5", at("10:30"), TOP + timedelta(hours=30, minutes=30), 66, id="over a weekend"),
        pytest.param("0 12 * * 4", at("12:00"), TOP + timedelta(days=19, hours=1, minutes=30), 48.5, id="two runs were missed"),
        pytest.param("0 12 * * 5", None, TOP + timedelta(hours=6), 20, id="no run yet"),
    ],
)  # fmt: skip
def test_how_long_it_is_until_the_next_time(schedule, last, now, hours):
    given = cron_job(schedule, created=TOP, last=last)

    assert until_next(given, parse(schedule), now) == pytest.approx(hours * HOUR + 0.1)
