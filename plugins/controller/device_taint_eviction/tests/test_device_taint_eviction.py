"""Pods whose devices are tainted: who goes and when, who stays, and what is told.

Source of the cases: kubernetes ``pkg/controller/devicetainteviction/device_taint_eviction_test.go``; those about
DeviceTaintRules are left out.
"""

from dataclasses import replace

import pytest
from hyperkube_controller.device_taint_eviction import GATE, DeviceTaintEviction

from hyperkube.kinds.resources import EVENTS, PODS, RESOURCE_CLAIMS, RESOURCE_SLICES
from hyperkube.machinery.times import format_time
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

EXISTS = {"operator": "Exists", "effect": "NoExecute"}
GONE, STAYS = "gone", "stays"


class World:
    """A rig whose clock stands at the time when the taints came."""

    def __init__(self, plugin=DeviceTaintEviction, *, slices=(), claims=(), pods=()):
        self.rig = ControllerRig(plugin)
        self.client = self.rig.client
        self.client.seed(RESOURCE_SLICES, *slices)
        self.client.seed(RESOURCE_CLAIMS, *claims)
        self.client.seed(PODS, *pods)
        self.rig.settle()

    def pods(self):
        return [GONE if each["metadata"].get("deletionTimestamp") else STAYS for each in self.client.objects(PODS)]

    def told(self):
        self.rig.plugins[0]._recorder.flush()
        return [each.get("message") or each.get("note") for each in self.client.objects(EVENTS)]

    def after(self, seconds):
        self.rig.clock.advance(seconds)
        self.rig.settle()
        return self.pods()


def taint(key="k", *, after=0, effect="NoExecute"):
    rig = ControllerRig(DeviceTaintEviction)
    rig.clock.advance(after)
    return {"key": key, "value": "v", "effect": effect, "timeAdded": format_time(rig.clock.now())}


def rslice(*taints, name="s", generation=1, device="d"):
    devices = [{"name": device, **({"taints": list(taints)} if taints else {})}, {"name": "other"}]
    spec = {"driver": "a", "nodeName": "n", "pool": {"name": "n", "generation": generation}, "devices": devices}
    return {"metadata": {"name": name}, "spec": spec}


def claim(*tolerations, name="c", device="d", users=("uid",), owner="uid", allocated=True):
    row = {"request": "r", "driver": "a", "pool": "n", "device": device, "tolerations": list(tolerations)}
    status = {"reservedFor": [{"resource": "pods", "name": "p", "uid": uid} for uid in users]}
    if allocated:
        status["allocation"] = {"devices": {"results": [row]}}
    meta = {"name": name, "namespace": "default", "uid": name}
    meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": owner, "controller": True}]
    return {"metadata": meta, "spec": {}, "status": status}


def pod(*names, node="n", template=False, made="c", **meta):
    rows = [{"name": name, "resourceClaimName": name} for name in names or ("c",)]
    status = {}
    if template:
        rows = [{"name": "t", "resourceClaimTemplateName": "x"}]
        status = {"resourceClaimStatuses": [{"name": "t", **({"resourceClaimName": made} if made else {})}]}
    spec = {"resourceClaims": rows, **({"nodeName": node} if node else {})}
    meta = {"name": "p", "namespace": "default", "uid": "uid", "finalizers": ["x/y"], **meta}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def tolerating(seconds=None, **words):
    return {**EXISTS, **({} if seconds is None else {"tolerationSeconds": seconds}), **words}


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
