"""The cronjob controller on the bench: a job when it is due, and no second one for the same moment."""

from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_controller.cronjob import Cronjob
from hyperkube_controller.cronjob.decision import due
from hyperkube_controller.cronjob.schedule import parse

from hyperkube.kinds.resources import CRON_JOBS, EVENTS, JOBS
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.times import format_time
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def cron_job(schedule="*/5 * * * *", **spec):
    template = {
        "metadata": {"labels": {"app": "tick"}, "annotations": {"note": "kept"}},
        "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}},
    }
    return {
        "kind": "CronJob",
        "apiVersion": "batch/v1",
        "metadata": {"name": "tick", "namespace": "d"},
        "spec": {"schedule": schedule, "jobTemplate": template, **spec},
    }


class World(ControllerRig):
    """A bench with one cron job; the time is midnight of the first of January 2030."""

    def __init__(self, *more, **spec):
        super().__init__(Cronjob)
        self.client.seed(CRON_JOBS, cron_job(*more, **spec))
        self.settle()

    def names(self):
        return [job["metadata"]["name"] for job in self.client.objects(JOBS)]

    def end(self, condition="Complete"):
        """Play the job controller: every job that runs ends."""
        for job in self.client.objects(JOBS):
            if not job.get("status"):
                now = self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
                status = {
                    "startTime": now, "completionTime": now, "conditions": [{"type": condition, "status": "True"}],
                }  # fmt: skip
                self.client.update(JOBS, {**job, "status": status}, subresource="status")
        self.settle()

    def status(self):
        return self.client.objects(CRON_JOBS)[0].get("status") or {}

    def said(self):
        for plugin in self.plugins:
            plugin._recorder.flush()
        return [(event["reason"], event["message"]) for event in self.client.objects(EVENTS)]


class TestContract(ControllerContract):
    plugin = Cronjob

    def populate(self, rig):
        late = cron_job()
        late["metadata"]["creationTimestamp"] = "2029-12-31T23:59:00Z"
        rig.client.seed(CRON_JOBS, late)


def test_a_job_is_made_when_it_is_due():
    world = World()
    world.advance(299)
    before = world.names()

    world.advance(2)

    assert before == []
    assert world.names() == ["tick-31557605"]
    (job,) = world.client.objects(JOBS)
    assert job["metadata"]["labels"] == {"app": "tick"}
    assert job["metadata"]["annotations"] == {
        "note": "kept",
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2030-01-01T00:05:00Z",
    }
    assert job["metadata"]["ownerReferences"][0]["kind"] == "CronJob"
    assert world.status()["lastScheduleTime"] == "2030-01-01T00:05:00Z"
    assert [row["name"] for row in world.status()["active"]] == ["tick-31557605"]
    assert ("SuccessfulCreate", "Created job tick-31557605") in world.said()


def test_how_late_a_job_was_made_is_told():
    world = World()

    world.advance(303)

    (skew,) = world.plugins[0]._metrics.collect()
    rows = {row.name.rpartition("_")[2]: row.value for row in skew.samples}
    assert (rows["count"], rows["sum"]) == (1, 3)


def test_it_goes_on_by_itself():
    world = World("@every 1m")

    for _ in range(5):
        world.advance(61)

    assert len(world.names()) == 5


def test_an_ended_job_is_no_longer_active():
    world = World()
    world.advance(301)

    world.end()

    assert "active" not in world.status()
    assert world.status()["lastSuccessfulTime"] == "2030-01-01T00:05:01Z"
    assert ("SawCompletedJob", "Saw completed job: tick-31557605, condition: Complete") in world.said()


@pytest.mark.parametrize(
    ("policy", "running"), [("Allow", 2), ("Forbid", 1), ("Replace", 1)], ids=["Allow", "Forbid", "Replace"]
)
def test_policies_for_a_job_that_still_runs(policy, running):
    world = World(concurrencyPolicy=policy)
    world.advance(301)

    world.advance(300)

    assert len(world.status()["active"]) == len(world.names()) == running
    assert world.names()[-1] == ("tick-31557605" if policy == "Forbid" else "tick-31557610")
    assert ("JobAlreadyActive" in dict(world.said())) == (policy == "Forbid")


def test_a_forbidden_start_is_made_up_for_when_the_way_is_free():
    world = World(concurrencyPolicy="Forbid")
    world.advance(301)
    world.advance(300)

    world.end()

    assert world.names() == ["tick-31557605", "tick-31557610"]


def test_history_has_limits():
    world = World(successfulJobsHistoryLimit=2, failedJobsHistoryLimit=1)

    for index in range(6):
        world.advance(301)
        world.end("Complete" if index % 2 else "Failed")

    conditions = [job["status"]["conditions"][0]["type"] for job in world.client.objects(JOBS)]
    assert sorted(conditions) == ["Complete", "Complete", "Failed"]


def test_a_suspended_one_starts_nothing():
    world = World(suspend=True)

    world.advance(1000)

    assert world.names() == []


def test_missed_times_are_made_up_for_once():
    world = World(suspend=True)
    world.advance(1000)

    world.client.patch(CRON_JOBS, "tick", {"spec": {"suspend": False}}, "d")
    world.settle()

    assert world.names() == ["tick-31557615"]


def test_times_beyond_the_deadline_are_left_out():
    world = World(suspend=True, startingDeadlineSeconds=30)
    world.advance(1000)

    world.client.patch(CRON_JOBS, "tick", {"spec": {"suspend": False}}, "d")
    world.settle()

    assert world.names() == []


def test_more_than_a_hundred_missed_times_are_told():
    world = World("@every 1s", suspend=True)
    world.advance(1000)

    world.client.patch(CRON_JOBS, "tick", {"spec": {"suspend": False}}, "d")
    world.settle()

    assert "TooManyMissedTimes" in dict(world.said())


UNSUPPORTED = (
    'CRON_TZ or TZ used in schedule "TZ=Europe/Paris */5 * * * *" is not officially supported, '
    "see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


@pytest.mark.parametrize(
    ("spec", "event"),
    [
        (
            {"schedule": "never"},
            ("UnparseableSchedule", 'unparseable schedule: "never" : expected exactly 5 fields, found 1: [never]'),
        ),
        (
            {"schedule": "59 23 31 2 *"},
            (
                "InvalidSchedule",
                "invalid schedule: 59 23 31 2 * : time difference between two schedules is less than 1 second",
            ),
        ),
        (
            {"schedule": "TZ=Europe/Paris */5 * * * *"},
            ("UnsupportedSchedule", UNSUPPORTED),
        ),
        ({"timeZone": "Moon/Sea"}, ("UnknownTimeZone", 'invalid timeZone: "Moon/Sea": unknown time zone Moon/Sea')),
    ],
    ids=["schedule", "never", "zone within", "zone"],
)
def test_what_cannot_be_read_is_told(spec, event):
    world = World(**spec)

    assert event in world.said()


def test_a_job_of_before_a_crash_is_taken_over():
    world = World()
    world.advance(301)
    world.client.update(CRON_JOBS, {**world.client.objects(CRON_JOBS)[0], "status": {}}, subresource="status")

    world.settle()

    assert len(world.names()) == 1
    assert [row["name"] for row in world.status()["active"]] == world.names()


def test_there_is_one_job_a_minute_at_most():
    world = World("@every 10s")
    world.advance(11)
    world.end()

    world.advance(20)

    assert len(world.names()) == 1
    assert "active" not in world.status()
    assert world.status()["lastScheduleTime"] == "2030-01-01T00:00:30Z"


def test_a_job_that_vanished_is_no_longer_active():
    world = World()
    world.advance(301)

    world.client.delete(JOBS, "tick-31557605", "d")
    world.settle()

    assert "active" not in world.status()
    assert ("MissingJob", "Active job went missing: tick-31557605") in world.said()


def test_a_job_that_cannot_be_replaced_is_told():
    world = World(concurrencyPolicy="Replace")
    world.advance(301)
    world.client.fail_next("delete", "jobs", Forbidden("not you"))

    world.advance(300)

    assert ("FailedDelete", "Deleted job: not you") in world.said()


TOP = datetime(2016, 5, 19, 10, tzinfo=UTC)
"""A Thursday, on the hour; the moments of the rows are minutes after it."""


# The rows of upstream's TestMostRecentScheduleTime: when it was made, when it ran last, and what is due since.
@pytest.mark.parametrize(
    ("text", "created", "last", "now", "latest", "count"),
    [
        pytest.param("0 * * * *", 0, None, 0.5, None, 0, id="not yet"),
        pytest.param("0 * * * *", 0, None, 61, 60, 1, id="just now"),
        pytest.param("0 * * * *", 1 / 6, None, 301, 300, 5, id="five"),
        pytest.param("0 * * * *", 1 / 6, 60, 60.5, None, 0, id="none since the last"),
        pytest.param("0 * * * *", 1 / 6, None, 60 * 101 + 1, 60 * 101, 101, id="more than a hundred"),
        pytest.param("30 6-16/4 * * 1-5", 1 / 6, 30, 24 * 60 + 31, 24 * 60 + 30, 2, id="every four hours on weekdays"),
        pytest.param("30 10,11,12 * * 1-5", 1 / 6, 30, 30 * 24 * 60 + 30, None, 720, id="uneven: none by the estimate"),
        pytest.param("@every 1h", 1 / 6, None, 301, 300 + 1 / 6, 5, id="an interval counts from when it was made"),
        pytest.param("@every 1h", 1 / 6, 60.5, 301, 300.5, 4, id="or from the last"),
    ],
)  # fmt: skip
def test_what_is_due(text, created, last, now, latest, count):
    def at(minutes):
        return TOP + timedelta(minutes=minutes)

    status = {} if last is None else {"lastScheduleTime": format_time(at(last))}
    cron_job = {"metadata": {"creationTimestamp": format_time(at(created))}, "spec": {}, "status": status}

    found = due(cron_job, parse(text), at(now))

    assert found.latest == (None if latest is None else at(latest))
    assert found.count == count
