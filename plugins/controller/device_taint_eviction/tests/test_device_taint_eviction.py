"""Pods whose devices are tainted: who goes and when, who stays, and what is told.

Source of the cases: kubernetes ``pkg/controller/devicetainteviction/device_taint_eviction_test.go``; those about
DeviceTaintRules stand in ``test_rules.py``, those about claims of pod groups are left out: they wait for their gate.
"""

from dataclasses import replace

import pytest
from device_world import GONE, STAYS, World, claim, pod, rslice, taint, tolerating
from hyperkube_controller.device_taint_eviction import GATE, DeviceTaintEviction

from hyperkube.kinds.resources import PODS, RESOURCE_CLAIMS, RESOURCE_SLICES
from hyperkube.machinery.errors import InternalError, NotFound
from hyperkube.testing.contracts.controller import ControllerContract


def pod_with_extended():
    """Return a pod that lists no claim, and has one for its extended resources."""
    made = pod()
    made["spec"]["resourceClaims"] = []
    return {**made, "status": {"extendedResourceClaimStatus": {"resourceClaimName": "c"}}}


EVICTED = {
    "no taint": (rslice(), [claim()], pod(), STAYS),
    "a taint": (rslice(taint()), [claim()], pod(), GONE),
    "a taint with another effect": (rslice(taint(effect="NoSchedule")), [claim()], pod(), STAYS),
    "a taint of another device": (rslice(taint()), [claim(device="other")], pod(), STAYS),
    "a claim from a template": (rslice(taint()), [claim()], pod(template=True), GONE),
    "a claim that is not needed": (rslice(taint()), [claim()], pod(template=True, made=""), STAYS),
    "a claim that was made for another pod": (rslice(taint()), [claim(owner="u2")], pod(template=True), STAYS),
    "a claim that another pod uses": (rslice(taint()), [claim(users=("u2",))], pod(), STAYS),
    "a claim that is not allocated": (rslice(taint()), [claim(allocated=False)], pod(), STAYS),
    "no claim": (rslice(taint()), [], pod(), STAYS),
    "a claim for extended resources": (rslice(taint()), [claim()], pod_with_extended(), GONE),
    "another pod's claim for extended resources": (rslice(taint()), [claim(owner="u2")], pod_with_extended(), STAYS),
    "a template whose claim is not made yet": (rslice(taint()), [claim()], pod(template=True, told=False), STAYS),
    "a taint of no effect": (rslice(taint(effect="None")), [claim()], pod(), STAYS),
    "a taint of an effect that is not known": (rslice(taint(effect="unknown-effect")), [claim()], pod(), STAYS),
    "a toleration without operator and key": (
        rslice(taint()),
        [claim({"effect": "NoExecute", "value": "v"})],
        pod(),
        STAYS,
    ),
    "a pod without a node": (rslice(taint()), [claim()], pod(node=""), STAYS),
    "the second of two claims": (
        rslice(taint()),
        [claim(device="other"), claim(name="c2")],
        pod("c", "c2"),
        GONE,
    ),
    "a toleration for another key": (
        rslice(taint()),
        [claim(tolerating(60, operator="Equal", key="other", value="v"))],
        pod(),
        GONE,
    ),
    "a toleration for ever": (rslice(taint()), [claim(tolerating())], pod(), STAYS),
    "a toleration for ever beside a short one": (rslice(taint()), [claim(tolerating(60), tolerating())], pod(), STAYS),
    "a toleration of all effects does not count": (
        rslice(taint()),
        [claim({"operator": "Exists"})],
        pod(),
        GONE,
    ),
    "one of two taints is tolerated": (rslice(taint("k1"), taint("k2")), [claim(tolerating(key="k1"))], pod(), GONE),
    "a toleration for less than no time": (rslice(taint()), [claim(tolerating(-1))], pod(), GONE),
    "a taint without a time": (
        rslice({"key": "k", "effect": "NoExecute"}),
        [claim()],
        pod(),
        STAYS,
    ),
}


@pytest.mark.parametrize(("slices", "claims", "who", "what"), EVICTED.values(), ids=EVICTED)
def test_who_is_evicted(slices, claims, who, what):
    world = World(slices=[slices], claims=claims, pods=[who])

    assert world.pods() == [what]
    assert world.told() == (["Marking for deletion"] if what == GONE else [])


LATER = {
    "tolerated for an hour": (rslice(taint()), [claim(tolerating(3600))], 3600),
    "by several tolerations, the shortest counts": (
        rslice(taint()),
        [claim(tolerating(20, operator="Equal", key="other", value="v"), tolerating(60), tolerating(30))],
        30,
    ),
    "of several taints, the first counts": (
        rslice(taint("k1"), taint("k2")),
        [claim(tolerating(60, key="k1"), tolerating(30, key="k2"))],
        30,
    ),
    "a taint that begins later": (rslice(taint(after=40)), [claim()], 40),
}


@pytest.mark.parametrize(("slices", "claims", "seconds"), LATER.values(), ids=LATER)
def test_when_a_pod_is_evicted(slices, claims, seconds):
    world = World(slices=[slices], claims=claims, pods=[pod()])
    before = world.pods(), world.after(seconds - 10)

    assert before == ([STAYS], [STAYS])
    assert world.after(11) == [GONE]


def test_the_pod_says_why():
    world = World(slices=[rslice(taint())], claims=[claim()], pods=[pod()])
    (left,) = world.client.objects(PODS)
    (row,) = left["status"]["conditions"]

    assert (row["type"], row["status"], row["reason"]) == ("DisruptionTarget", "True", "DeletionByDeviceTaintManager")
    assert row["message"] == "Device Taint manager: deleting due to NoExecute taint"


def test_an_eviction_is_cancelled_when_the_taint_goes():
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod()])
    stored = world.client.get(RESOURCE_SLICES, "s")
    world.client.update(RESOURCE_SLICES, {**stored, "spec": rslice()["spec"]})
    world.rig.settle()

    assert world.told() == ["Cancelling deletion"]
    assert world.after(100) == [STAYS]


def test_a_newer_generation_of_the_pool_counts():
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod()])
    world.client.seed(RESOURCE_SLICES, rslice(name="new", generation=2))

    assert world.after(100) == [STAYS]


def test_a_pool_that_goes_takes_its_taints_along():
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod()])
    world.client.delete(RESOURCE_SLICES, "s")

    assert world.after(100) == [STAYS]


@pytest.mark.parametrize("order", ["slice last", "claim last", "pod last", "node last"])
def test_whatever_comes_last(order):
    world = World()
    steps = {
        "slice last": lambda: world.client.seed(RESOURCE_SLICES, rslice(taint())),
        "claim last": lambda: world.client.seed(RESOURCE_CLAIMS, claim()),
        "pod last": lambda: world.client.seed(PODS, pod(node="" if order == "node last" else "n")),
    }
    for step in sorted(steps, key=lambda name: name == order):
        steps[step]()
        world.rig.settle()
    if order == "node last":
        waiting = world.pods()
        stored = world.client.get(PODS, "p", "default")
        world.client.update(PODS, {**stored, "spec": {**stored["spec"], "nodeName": "n"}}, "default")
        world.rig.settle()
        assert waiting == [STAYS]

    assert world.pods() == [GONE]


def test_a_pod_that_gives_its_claim_back_stays():
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod()])
    stored = world.client.get(RESOURCE_CLAIMS, "c", "default")
    world.client.update(RESOURCE_CLAIMS, {**stored, "status": {}}, "default", subresource="status")

    assert world.after(100) == [STAYS]


def test_a_pod_that_was_replaced_stays():
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod(finalizers=[])])
    world.client.delete(PODS, "p", "default", options={"gracePeriodSeconds": 0})
    world.client.seed(PODS, pod(uid="u2"))

    assert world.after(100) == [STAYS]


def changed(world, resource, new, namespace=""):
    stored = world.client.get(resource, new["metadata"]["name"], namespace)
    kept = {**stored["metadata"], "ownerReferences": new["metadata"].get("ownerReferences", [])}
    world.client.update(resource, {**new, "metadata": kept}, namespace)
    if "status" in new:
        current = world.client.get(resource, new["metadata"]["name"], namespace)
        world.client.update(resource, {**current, "status": new["status"]}, namespace, subresource="status")
    world.rig.settle()


CANCELLED = {
    "the taint goes": lambda world: changed(world, RESOURCE_SLICES, rslice()),
    "the effect becomes less": lambda world: changed(world, RESOURCE_SLICES, rslice(taint(effect="NoSchedule"))),
    "the slice goes": lambda world: world.client.delete(RESOURCE_SLICES, "s"),
    "the claim is deallocated": lambda world: changed(world, RESOURCE_CLAIMS, claim(allocated=False), "default"),
    "the claim goes": lambda world: world.client.delete(RESOURCE_CLAIMS, "c", "default"),
    "the claim is another's": lambda world: changed(world, RESOURCE_CLAIMS, claim(owner="u2"), "default"),
}


@pytest.mark.parametrize("change", CANCELLED.values(), ids=CANCELLED)
def test_what_cancels_an_eviction_is_told(change):
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod(template=True)])
    change(world)
    world.rig.settle()

    assert world.told() == ["Cancelling deletion"]
    assert world.after(600) == [STAYS]
    assert world.counted() == (0, 0)


def test_a_pod_that_goes_by_itself_is_not_told_of():
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod(finalizers=[])])
    world.client.delete(PODS, "p", "default", options={"gracePeriodSeconds": 0})
    world.after(600)

    assert world.told() == []
    assert world.counted() == (0, 0)


def test_a_taint_that_comes_again_evicts_again():
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod()])
    world.client.delete(RESOURCE_SLICES, "s")
    world.rig.settle()
    world.client.seed(RESOURCE_SLICES, rslice(taint()))

    assert world.after(61) == [GONE]
    assert world.told() == ["Cancelling deletion", "Marking for deletion"]


def test_another_taint_that_is_not_tolerated_counts_at_once():
    tolerated = tolerating(3600, operator="Equal", key="k", value="v")
    world = World(slices=[rslice(taint())], claims=[claim(tolerated)], pods=[pod(template=True)])
    before = world.pods()
    changed(world, RESOURCE_SLICES, rslice({**taint(), "value": "other"}))

    assert (before, world.pods()) == ([STAYS], [GONE])
    assert world.told() == ["Marking for deletion"]


def test_changes_of_no_matter_evict_once():
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod()])
    extended = rslice(taint())
    extended["spec"]["devices"].append({"name": "more", "taints": [taint()]})
    changed(world, RESOURCE_SLICES, extended)
    world.client.patch(RESOURCE_CLAIMS, "c", {"metadata": {"labels": {"x": "y"}}}, "default")
    world.client.patch(PODS, "p", {"metadata": {"labels": {"x": "y"}}}, "default")

    assert world.after(61) == [GONE]
    assert world.told() == ["Marking for deletion"]


@pytest.mark.parametrize("late", ["pod", "claim", "extended"])
def test_what_belongs_to_the_pod_only_after_a_change_evicts_it_then(late):
    """The pod was another's with the name, the claim another pod's, or the pod's extended resources came later."""
    before = {"pod": pod(uid="u2", finalizers=[]), "claim": pod(template=True), "extended": pod(made="", template=True)}
    owner = "u2" if late == "claim" else "uid"
    world = World(slices=[rslice(taint())], claims=[claim(owner=owner)], pods=[before[late]])
    waiting = world.pods()
    if late == "pod":
        world.client.delete(PODS, "p", "default", options={"gracePeriodSeconds": 0})
        world.client.seed(PODS, pod())
    elif late == "claim":
        changed(world, RESOURCE_CLAIMS, claim(), "default")
    else:
        world.client.patch(PODS, "p", {"status": pod_with_extended()["status"]}, "default", subresource="status")
    world.rig.settle()

    assert (waiting, world.pods()) == ([STAYS], [GONE])


def test_a_pod_that_is_gone_when_it_is_to_go_is_not_told_of():
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod()])
    world.client.fail_next("get", "pods", NotFound("gone"))
    world.after(61)

    assert world.told() == []
    assert world.counted() == (0, 0)


def test_an_eviction_that_failed_is_tried_again():
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod()])
    world.client.fail_next("get", "pods", InternalError("fake error"))
    world.rig.clock.advance(60)
    world.rig.settle()

    assert world.pods() == [GONE]
    assert world.told() == ["Marking for deletion"]
    assert world.counted() == (1, pytest.approx(0.05, abs=0.1))


@pytest.mark.parametrize("late", [0, 3])
def test_deletions_and_how_late_they_are_are_counted(late):
    world = World(slices=[rslice(taint())], claims=[claim(tolerating(60))], pods=[pod()])
    world.after(60 + late)

    assert world.counted() == (1, pytest.approx(late, abs=0.1))


def test_users_that_are_no_pods_are_left_alone():
    shared = claim()
    shared["status"]["reservedFor"].append({"apiGroup": "x", "resource": "pods", "name": "p", "uid": "other"})
    world = World(slices=[rslice(taint())], claims=[shared])

    assert world.told() == []


class Off(DeviceTaintEviction):
    """The controller where the feature gate is off."""

    def __init__(self, context):
        super().__init__(replace(context, gates={GATE: False}))


def test_with_the_gate_off_pods_stay():
    world = World(Off, slices=[rslice(taint())], claims=[claim()], pods=[pod()])

    assert world.pods() == [STAYS]


class TestContract(ControllerContract):
    plugin = DeviceTaintEviction

    def populate(self, rig):
        rig.client.seed(RESOURCE_SLICES, rslice(taint()))
        rig.client.seed(RESOURCE_CLAIMS, claim())
        rig.client.seed(PODS, pod())
