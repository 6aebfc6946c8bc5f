"""Expectations hold whatever happens to the requests."""

import pytest
from hyperkube_lib.pod_control import PodControl

from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Expectations
from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import EVENTS, PODS
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import Forbidden, NotFound

OWNER = {"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "d", "uid": "u"}}
KEY = "d/web"
POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"generateName": "web-", "namespace": "d"}}


class World:
    def __init__(self, pods=0):
        clock = FakeClock()
        self.client = FakeClient(clock)
        self.recorder = EventRecorder(self.client, clock, "test")
        self.expectations = Expectations(clock)
        self.control = PodControl(self.client, self.recorder, self.expectations)
        self.pods = [self.client.create(PODS, POD, "d") for _ in range(pods)]

    def events(self):
        self.recorder.flush()
        return {(event["type"], event["reason"], event["message"]) for event in self.client.objects(EVENTS)}


def test_what_was_created_and_deleted_is_expected():
    world = World(pods=1)

    assert world.control.manage(KEY, OWNER, create=[POD, POD], delete=world.pods) == []

    assert not world.expectations.satisfied(KEY)
    world.expectations.creation_observed(KEY, 2)
    assert not world.expectations.satisfied(KEY)
    world.expectations.deletion_observed(KEY, world.pods[0]["metadata"]["uid"])
    assert world.expectations.satisfied(KEY)


def test_what_was_done_is_told():
    created, deleted = World(), World(pods=1)

    created.control.manage(KEY, OWNER, create=[POD])
    deleted.control.manage(KEY, OWNER, delete=deleted.pods)

    (made,) = created.client.objects(PODS)
    assert created.events() == {("Normal", "SuccessfulCreate", f"Created pod: {made['metadata']['name']}")}
    gone = deleted.pods[0]["metadata"]["name"]
    assert deleted.events() == {("Normal", "SuccessfulDelete", f"Deleted pod: {gone}")}


def test_nothing_to_do_leaves_what_is_expected():
    world = World()
    world.expectations.expect(KEY, creations=1)

    assert world.control.manage(KEY, OWNER) == []

    assert not world.expectations.satisfied(KEY)


@pytest.mark.parametrize("failure", [Forbidden("no"), ConnectionError("gone")], ids=["refused", "no server"])
@pytest.mark.parametrize("failures", [1, 3])
def test_a_deletion_that_failed_is_no_longer_expected(failure, failures):
    world = World(pods=3)
    for _ in range(failures):
        world.client.fail_next("delete", "pods", failure)

    assert world.control.manage(KEY, OWNER, delete=world.pods) == [failure] * failures

    left = {pod["metadata"]["uid"] for pod in world.client.objects(PODS)}
    assert len(left) == failures
    for pod in world.pods:
        if pod["metadata"]["uid"] not in left:
            world.expectations.deletion_observed(KEY, pod["metadata"]["uid"])
    assert world.expectations.satisfied(KEY)
    assert ("Warning", "FailedDelete", f"Error deleting: {failure}") in world.events()


@pytest.mark.parametrize("failure", [Forbidden("no"), ConnectionError("gone")], ids=["refused", "no server"])
def test_a_creation_that_failed_is_no_longer_expected(failure):
    world = World()
    world.client.fail_next("create", "pods", failure)

    assert world.control.manage(KEY, OWNER, create=[POD] * 9) == [failure]

    assert world.expectations.satisfied(KEY)
    assert world.client.objects(PODS) == []
    assert world.events() == {("Warning", "FailedCreate", f"Error creating: {failure}")}


def test_a_pod_that_is_gone_is_no_failure():
    world = World(pods=1)
    world.client.fail_next("delete", "pods", NotFound("gone"))

    assert world.control.manage(KEY, OWNER, delete=world.pods) == []

    assert world.expectations.satisfied(KEY)
    assert world.events() == set()


def test_in_a_namespace_that_is_being_deleted_nothing_is_said():
    world = World()
    going = Forbidden("being terminated", details={"causes": [{"reason": "NamespaceTerminating"}]})
    world.client.fail_next("create", "pods", going)

    assert world.control.manage(KEY, OWNER, create=[POD]) == []

    assert world.expectations.satisfied(KEY)
    assert world.events() == set()


@pytest.mark.parametrize("verb", ["create", "delete"])
def test_after_a_bug_nothing_is_expected(verb):
    world = World(pods=2)
    world.client.fail_next(verb, "pods", KeyError("x"))

    with pytest.raises(KeyError):
        world.control.manage(KEY, OWNER, **{verb: [POD] if verb == "create" else world.pods})

    assert world.expectations.satisfied(KEY)
