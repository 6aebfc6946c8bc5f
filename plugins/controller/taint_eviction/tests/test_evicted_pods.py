"""Which pods leave tainted nodes, and when, case by case; and how deletions that are refused go on.

Source: kubernetes ``pkg/controller/tainteviction/taint_eviction_test.go``.
"""

from contextlib import suppress

import pytest
from hyperkube_controller.taint_eviction import TaintEviction, no_execute, seconds_left

from hyperkube.kinds.resources import EVENTS, NODES, PODS
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.testing.controller_rig import ControllerRig

FOR_EVER = -1
REFUSED = "denied by test"


def taint(number):
    return {"key": f"testTaint{number}", "value": f"test{number}", "effect": "NoExecute"}


def toleration(number, seconds):
    base = {"key": f"testTaint{number}", "value": f"test{number}", "effect": "NoExecute"}
    return base if seconds == FOR_EVER else {**base, "tolerationSeconds": seconds}


def node(*numbers):
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": "node1"},
        "spec": {"taints": [*map(taint, numbers)]},
    }


def pod(name="pod1", on="node1", **seconds):
    """Return a pod; `t1=5` is a toleration of the first taint for five seconds."""
    spec = {"tolerations": [toleration(key[1:], value) for key, value in seconds.items()]}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "default", "uid": f"{name}-uid"},
        "spec": {**spec, "nodeName": on} if on else spec,
        "status": {"phase": "Running"},
    }


def world(of, *pods):
    rig = ControllerRig(TaintEviction)
    if of is not None:
        rig.client.seed(NODES, of)
    rig.client.seed(PODS, *pods)
    rig.settle()
    return rig


def done(rig, verb):
    """Return what the controller did, and not the test: it patches the status only."""
    found = [name for did, kind, name in rig.client.actions if (did, kind) == (verb, "pods")]
    return [name for name in found if verb == "delete" or name.endswith("/status")]


def change(rig, changed):
    """Bring a pod or a node to what is given."""
    if changed["kind"] == "Node":
        rig.client.patch(NODES, "node1", {"spec": changed["spec"]})
    else:
        rig.client.patch(PODS, changed["metadata"]["name"], {"spec": changed["spec"]}, "default")
    rig.settle()


def test_only_no_execute_counts():
    other = {"key": "two", "value": "two", "effect": "NoSchedule"}
    assert no_execute({"spec": {"taints": [taint(1), other]}}) == [taint(1)]


@pytest.mark.parametrize(
    ("created", "of", "goes"),
    [
        (pod(on=""), None, False),
        (pod(), None, False),
        (pod(), node(1), True),
        (pod(t1=100), node(1), False),
        (pod(t1=0), node(1), True),
        (pod(t1=FOR_EVER), node(1), False),
        (pod(t2=FOR_EVER), node(1), True),
    ],
    ids=["no-node", "no-taint", "tainted", "finite", "zero", "for-ever", "another-taint"],
)
def test_a_new_pod(created, of, goes):
    rig = world(of, created)

    assert bool(done(rig, "patch")) == bool(done(rig, "delete")) == goes


@pytest.mark.parametrize(
    ("before", "after", "wait", "goes"),
    [
        (pod(on=""), pod(), 0, True),
        (pod(on="", t1=FOR_EVER), pod(t1=FOR_EVER), 0, False),
        (pod(t1=100), pod(), 0, True),
        (pod(t1=1), pod(t1=100), 1, True),
    ],
    ids=["scheduled", "scheduled-tolerating", "toleration-removed", "toleration-lengthened"],
)
def test_a_pod_that_changes(before, after, wait, goes):
    rig = world(node(1), before)
    assert not done(rig, "delete")

    change(rig, after)
    rig.advance(wait)

    assert bool(done(rig, "patch")) == bool(done(rig, "delete")) == goes


@pytest.mark.parametrize(
    ("created", "of", "goes"),
    [(pod(), node(), False), (pod(), node(1), True), (pod(t1=FOR_EVER), node(1), False)],
    ids=["not-tainted", "tainted", "tolerated"],
)
def test_a_node_that_comes_after_its_pod(created, of, goes):
    rig = world(None, created)

    rig.client.seed(NODES, of)
    rig.settle()

    assert bool(done(rig, "patch")) == bool(done(rig, "delete")) == goes


def test_a_node_that_goes_takes_its_deadlines_along():
    rig = world(node(1), pod(t1=5))

    rig.client.delete(NODES, "node1")
    rig.client.patch(PODS, "pod1", {"metadata": {"labels": {"touched": "yes"}}}, "default")
    rig.settle()
    rig.advance(60)

    assert not done(rig, "delete")


@pytest.mark.parametrize(
    ("created", "before", "after", "wait", "goes"),
    [
        (pod(), node(), node(1), 0, True),
        (pod(t1=100), node(), node(1), 0, False),
        (pod(t1=1), node(), node(1, 2), 0, True),
        (pod(t1=1), node(1), node(), 1.5, False),
        (pod(t1=1, t2=100), node(), node(1, 2), 1, True),
    ],
    ids=["taint-added", "tolerated", "second-not-tolerated", "taint-removed", "the-first-that-runs-out"],
)
def test_a_node_that_changes(created, before, after, wait, goes):
    rig = world(before, created)

    change(rig, after)
    rig.advance(wait)

    assert bool(done(rig, "patch")) == bool(done(rig, "delete")) == goes


def test_taints_that_come_and_go():
    rig = world(node(), pod(t1=FOR_EVER, t2=60))
    waiting = []
    for numbers in ((), (1,), (1, 2), (1,)):
        change(rig, node(*numbers))
        waiting.append(bool(rig.plugins[0]._scheduled))

    rig.advance(120)
    assert waiting == [False, False, True, False]
    assert not done(rig, "delete")


@pytest.mark.parametrize(
    ("after", "at_once", "later"),
    [(node(1), ["pod1"], ["pod1", "pod2"]), (node(1, 2), ["pod1", "pod2", "pod3"], ["pod1", "pod2", "pod3"])],
    ids=["each-in-its-time", "one-taint-not-tolerated"],
)
def test_several_pods(after, at_once, later):
    rig = world(node(), pod("pod1"), pod("pod2", t1=1), pod("pod3", t1=FOR_EVER))

    change(rig, after)
    assert sorted(done(rig, "delete")) == [f"default/{name}" for name in at_once]
    rig.advance(1)
    assert sorted(done(rig, "delete")) == [f"default/{name}" for name in later]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [([], 0), ([None], None), ([1, 2], 1), ([1, None], 1), ([None, 1], 1)],
    ids=["none", "for-ever", "shortest", "first", "second"],
)
def test_the_shortest_toleration(seconds, expected):
    tolerations = [{"operator": "Exists"} | ({} if each is None else {"tolerationSeconds": each}) for each in seconds]

    assert seconds_left({"spec": {"tolerations": tolerations}}, [taint(1)]) == expected


@pytest.mark.parametrize(
    ("first", "second"),
    [(pod("pod2", on=""), pod("pod2")), (None, pod("pod2"))],
    ids=["scheduled-later", "created-later"],
)
def test_a_pod_that_is_seen_after_its_nodes_taint(first, second):
    rig = world(node(), pod(), *([first] if first else []))
    change(rig, node(1))
    assert done(rig, "delete") == ["default/pod1"]

    if first:
        change(rig, second)
    else:
        rig.client.seed(PODS, second)
        rig.settle()

    assert done(rig, "delete") == ["default/pod1", "default/pod2"]


class Refusing:
    """A world in which deletions of pods are refused as often as said."""

    def __init__(self, created, times):
        self.rig = ControllerRig(TaintEviction)
        self.rig.client.seed(NODES, node(1))
        self.rig.client.seed(PODS, created)
        for _ in range(times):
            self.rig.client.fail_next("delete", "pods", Forbidden(REFUSED))
        self.rig.settle()

    def attempts(self):
        return len(done(self.rig, "patch"))  # each is told first

    def goes(self):
        (found,) = self.rig.client.objects(PODS)
        return "deletionTimestamp" in found["metadata"]


def test_refused_deletions_go_on_and_are_told_once():
    world = Refusing(pod(), 6)

    for _ in range(12):
        world.rig.advance(60)

    assert world.goes()
    assert world.attempts() == 7
    world.rig.plugins[0]._recorder.flush()
    assert [(each["message"], each["count"]) for each in world.rig.client.objects(EVENTS)] == [
        ("Marking for deletion Pod default/pod1", 1)
    ]


def test_refused_deletions_are_tried_ever_less_often():
    world = Refusing(pod(), 100)
    tried = []
    for _ in range(4):
        world.rig.advance(5)
        tried.append(world.attempts())

    first, *rest = [now - before for before, now in zip([0, *tried], tried, strict=False)]
    assert first > rest[-1]


def test_a_zero_toleration_changes_nothing_for_a_refused_deletion():
    world = Refusing(pod(), 20)
    before = world.attempts()

    change(world.rig, pod(t1=0))
    world.rig.advance(0)

    assert world.attempts() > before


def test_a_refused_deletion_is_not_tried_on_another_pod_of_the_name():
    world = Refusing(pod(), 20)
    before = world.attempts()
    for _ in range(20):
        with suppress(Forbidden, NotFound):
            world.rig.client.delete(PODS, "pod1", "default", options={"gracePeriodSeconds": 0})
    replacement = pod(t1=30)
    replacement["metadata"]["uid"] = "pod1-replacement-uid"
    world.rig.client.seed(PODS, replacement)  # seen as a change: the cache missed the deletion

    world.rig.settle()
    world.rig.advance(29)

    assert world.attempts() == before < 20


def test_a_refused_deletion_is_given_up_with_its_taint():
    world = Refusing(pod(), 20)
    before = world.attempts()

    change(world.rig, node())
    world.rig.advance(60)

    assert not world.goes()
    assert world.attempts() == before < 20


@pytest.mark.parametrize(
    ("tolerating", "of"), [(pod(t1=5), node(1)), (pod(t2=5), node(2))], ids=["toleration", "another-taint"]
)
def test_a_refused_deletion_waits_for_a_toleration_that_comes(tolerating, of):
    world = Refusing(pod(), 20)
    before = world.attempts()
    client = world.rig.client
    client.patch(NODES, "node1", {"spec": of["spec"]})
    client.patch(PODS, "pod1", {"spec": tolerating["spec"]}, "default")
    world.rig.settle()

    world.rig.advance(4)
    assert world.attempts() == before < 20
    world.rig.advance(1)
    assert world.attempts() > before


def test_a_toleration_that_has_run_out_does_not_begin_anew_when_a_deletion_is_refused():
    world = Refusing(pod(t1=5), 20)
    assert world.attempts() == 0

    world.rig.advance(5)
    first = world.attempts()
    world.rig.advance(1)

    assert 0 < first < world.attempts()


@pytest.mark.parametrize("verb", ["patch", "delete"])
def test_a_pod_that_has_gone_meanwhile_is_no_failure(verb):
    rig = ControllerRig(TaintEviction)
    rig.client.fail_next(verb, "pods", NotFound("pod1"))
    rig.client.seed(NODES, node(1))
    rig.client.seed(PODS, pod())

    rig.settle()

    assert not any(each.has_failed for each in rig.plugins[0]._scheduled.values())


def test_a_pod_that_replaced_another_in_one_step_has_its_own_time():
    rig = world(node(1), pod(t1=10))
    rig.advance(6)
    rig.client.delete(PODS, "pod1", "default", options={"gracePeriodSeconds": 0})
    replacement = pod(t1=10)
    replacement["metadata"]["uid"] = "pod1-replacement-uid"
    rig.client.seed(PODS, replacement)
    rig.settle()

    rig.advance(6)
    assert not done(rig, "patch")
    rig.advance(5)
    assert done(rig, "patch")


def test_an_eviction_that_the_watch_has_not_shown_yet_is_not_begun_again():
    rig = world(node(1), pod(t1=4))
    plugin = rig.plugins[0]
    rig.clock.advance(4)
    for controller in rig.controllers:
        controller.drain()
    assert len(done(rig, "delete")) == 1

    plugin._sync("default/pod1")  # as the changed status has it, which comes before the deletion
    rig.client.delete(PODS, "pod1", "default", options={"gracePeriodSeconds": 0})
    rig.settle()

    plugin._recorder.flush()
    assert [each["message"] for each in rig.client.objects(EVENTS)] == ["Marking for deletion Pod default/pod1"]
    assert not plugin._scheduled
