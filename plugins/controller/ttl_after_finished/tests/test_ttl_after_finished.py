"""The ttl-after-finished controller: not before the end, not before the time."""

from datetime import timedelta

import pytest
from hyperkube_controller.ttl_after_finished import TtlAfterFinished, decide, due_at

from hyperkube.client.actions import Again, Delete
from hyperkube.kinds.resources import JOBS
from hyperkube.machinery.times import parse_time
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def job(ttl=100, condition="Complete"):
    ended = {"type": condition, "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z"}
    return {
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "d"},
        "spec": {} if ttl is None else {"ttlSecondsAfterFinished": ttl},
        "status": {"conditions": [ended] if condition else []},
    }


class TestContract(ControllerContract):
    plugin = TtlAfterFinished

    def populate(self, rig):
        rig.client.seed(JOBS, job(ttl=0))


@pytest.mark.parametrize("condition", ["Complete", "Failed"])
def test_an_ended_job_goes_when_its_time_is_over(condition):
    rig = ControllerRig(TtlAfterFinished)
    rig.client.seed(JOBS, job(condition=condition))
    rig.settle()
    rig.advance(90)
    assert not rig.client.objects(JOBS)[0]["metadata"].get("deletionTimestamp")

    rig.advance(11)

    assert rig.client.objects(JOBS)[0]["metadata"]["deletionTimestamp"]
    (late,) = rig.plugins[0]._metrics.collect()
    assert next(row.value for row in late.samples if row.name.endswith("_count")) == 1


@pytest.mark.parametrize("kept", [job(ttl=None), job(condition="")], ids=["no time", "not ended"])
def test_others_stay(kept):
    rig = ControllerRig(TtlAfterFinished)
    rig.client.seed(JOBS, kept)
    rig.settle()

    rig.advance(10_000)

    assert not rig.client.objects(JOBS)[0]["metadata"].get("deletionTimestamp")


def test_a_time_that_was_prolonged_is_waited_for():
    rig = ControllerRig(TtlAfterFinished)
    rig.client.seed(JOBS, job())
    rig.settle()
    rig.client.patch(JOBS, "j", {"spec": {"ttlSecondsAfterFinished": 500}}, "d")
    rig.clock.advance(101)

    rig.controllers[0].drain()

    assert not rig.client.objects(JOBS)[0]["metadata"].get("deletionTimestamp")
    rig.advance(500)
    assert rig.client.objects(JOBS)[0]["metadata"]["deletionTimestamp"]


@pytest.mark.parametrize("condition", ["Complete", "Failed"])
@pytest.mark.parametrize(
    ("ttl", "ago", "left"), [(None, 0, None), (0, 0, 0), (10, 0, 10), (15, 10, 5), (15, 20, -5), (15, -10, 25)]
)
def test_the_time_that_is_left(condition, ttl, ago, left):
    ended = job(ttl, condition)
    now = parse_time("2030-01-01T00:00:00Z") + timedelta(seconds=ago)

    actions = decide(ended, now)

    assert due_at(ended) == (None if left is None else now + timedelta(seconds=left))
    if left is None:
        assert actions == []
    elif left > 0:
        assert actions == [Again(left)]
    else:
        assert actions == [Delete.of(JOBS, ended, {"propagationPolicy": "Foreground"})]


def test_an_end_without_a_time_is_waited_for():
    rig = ControllerRig(TtlAfterFinished)
    ended = job()
    del ended["status"]["conditions"][0]["lastTransitionTime"]
    rig.client.seed(JOBS, ended, {**job(), "metadata": {"name": "other", "namespace": "d"}})
    rig.settle()

    rig.advance(101)

    going = {each["metadata"]["name"] for each in rig.client.objects(JOBS) if each["metadata"].get("deletionTimestamp")}
    assert going == {"other"}


def test_a_job_that_came_anew_under_the_name_stays():
    rig = ControllerRig(TtlAfterFinished)
    rig.client.seed(JOBS, job())
    rig.settle()
    rig.client.delete(JOBS, "j", "d")
    rig.client.seed(JOBS, job(condition=""))
    rig.clock.advance(101)

    rig.controllers[0].drain()

    assert not rig.client.objects(JOBS)[0]["metadata"].get("deletionTimestamp")
