"""The server while there is nothing to schedule, and when there is."""

import pytest

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

from hyperkube_host.scheduler.options import SchedulerOptions
from hyperkube_host.scheduler.scheduler import Scheduler

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import PODS
from hyperkube.testing.waiting import eventually


def pod(name, **spec):
    metadata = {"name": name, "namespace": "default", "uid": name}
    return {"metadata": metadata, "spec": {"containers": [{"name": "c"}], **spec}}


@pytest.fixture
def client():
    return FakeClient()


@pytest.fixture
def scheduler(client):
    scheduler = Scheduler(client=client, options=SchedulerOptions.in_process({}))
    scheduler.start()
    eventually(scheduler.ready)
    yield scheduler
    scheduler.close()


def watched(scheduler):
    return {informer.resource for informer in scheduler._informers.all()}


def test_without_pods_nothing_else_is_watched(scheduler, client):
    client.create(PODS, pod("placed", nodeName="n"), "default")
    eventually(lambda: scheduler._informers.informer(PODS).get("default", "placed"))

    assert watched(scheduler) == {PODS}
    assert scheduler.has_seen({})


def test_the_first_pod_is_decided_on(scheduler, client):
    client.create(PODS, pod("first"), "default")

    said = eventually(lambda: (now := scheduler.explain("default/first")) and now["message"] and now)

    assert said["message"] == "no nodes available to schedule pods"
    assert len(watched(scheduler)) > 1


def test_a_resting_scheduler_ends(scheduler):
    scheduler.close()

    assert not scheduler._thread.is_alive()
