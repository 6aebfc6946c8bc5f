"""Pods with claims, step by step: what they wait for, where they fit, what is written and what is given back.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources_test.go``.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import ask, cel, claim, counters, dev, device_class, first, part, rslice
from hyperkube_scheduler.dynamic_resources import DynamicResources
from hyperkube_scheduler.dynamic_resources.claims import MOST_USERS, claim_names
from hyperkube_scheduler.dynamic_resources.pools import DeviceId
from hyperkube_scheduler.dynamic_resources.reasons import NoClaim
from hyperkube_testing.scheduling.tables import pod_info, table
from plugin_world import FINALIZER, USER, World, allocated, got, owned, pod

from hyperkube.kinds.resources import DEVICE_CLASSES, RESOURCE_CLAIMS
from hyperkube.machinery.errors import InternalError
from hyperkube.plugin import PluginContext

PENDING, OTHER = claim(ask()), claim(ask(), name="c1")
MADE = owned(PENDING)
ONE = rslice(dev("1"))
TWO = rslice(dev("2"), node="n2", pool="p2")
ELSEWHERE = allocated(PENDING, got("r0=a/p2/2", node="elsewhere"))
TAINTED = rslice(dev("1", taints=[{"key": "k", "effect": "NoSchedule"}]))
FULL = "cannot allocate all claims"
AWAY = "resourceclaim not available on the node"
ADMIN = claim(ask(adminAccess=True))
BOUND = "r0=a/p1/1 for pod, protected"


def deleted(each):
    return {**each, "metadata": {**each["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]}}


def broken(*more):
    return claim(ask(selectors=cel("device.attributes['a'].healthy", *more)))


UNKNOWN_CLASS = "! request {}: device class missing does not exist"
ERROR = "claim default/c0: selector #0 on device a/p1/1: CEL runtime error: no such key: healthy"

WAITING = {
    "nothing claimed": (pod(), [], [""]),
    "a claim by name": (pod("c0"), [PENDING], [FULL]),
    "a claim from a template": (pod(template="t", made="c0"), [MADE], [FULL]),
    "not made yet": (pod(template="t"), [PENDING], 'waits: pod "default/pod": ResourceClaim not created yet'),
    "being deleted": (
        pod(template="t", made="c0"),
        [deleted(MADE)],
        'waits: resourceclaim "c0" is being deleted',
    ),
    "made for another pod": (
        pod(template="t", made="c0"),
        [owned(PENDING, "other")],
        "waits: ResourceClaim default/c0 was not created for pod default/pod (pod is not owner)",
    ),
    "missing": (pod("c0"), [], 'waits: resourceclaim.resource.k8s.io "c0" not found'),
}


@pytest.mark.parametrize(("asked", "claims", "said"), WAITING.values(), ids=WAITING)
def test_what_a_pod_waits_for(asked, claims, said):
    found = World(claims).ask(asked)

    assert found == (["! " + FULL] if said == [FULL] else said)


TWO_NODES = ({"name": "n1"}, {"name": "n2"})
HEALTHY = dev("1", attributes={"healthy": True})
PLACES = {
    "devices there": ([PENDING], [ONE], {}, [""]),
    "no slices": ([PENDING], [], {}, ["! " + FULL]),
    "a device that is taken": ([PENDING, allocated(OTHER)], [ONE], {}, ["! " + FULL]),
    "on one of two nodes": ([PENDING], [ONE], {"nodes": TWO_NODES}, ["", "! " + FULL]),
    "tainted, gate off": ([PENDING], [TAINTED], {"gates": {"DRADeviceTaints": False}}, [""]),
    "tainted": ([PENDING], [TAINTED], {}, ["! " + FULL]),
    "for an administrator": ([ADMIN, allocated(OTHER)], [ONE], {}, [""]),
    "an administrator has it": (
        [PENDING, allocated(claim(ask(adminAccess=True), name="c1"), got("r0=a/p1/1", adminAccess=True))],
        [ONE],
        {},
        [""],
    ),
    "an expression of the claim fails": ([broken()], [ONE], {}, [f"! {ERROR}"]),
    "an expression of the class fails": (
        [PENDING],
        [ONE],
        {"classes": [device_class("a", "device.attributes['a'].healthy")]},
        [f"! class a: {ERROR.partition(': ')[2]}"],
    ),
    "an expression fails on one of two nodes": (
        [broken()],
        [rslice(HEALTHY), TWO],
        {"nodes": TWO_NODES},
        [f"! {ERROR.replace('p1/1', 'p2/2')}"] * 2,
    ),
    "no such class": ([PENDING], [ONE], {"classes": []}, ["! request r0: device class a does not exist"]),
    "an unknown class": ([claim(ask("r0", "missing"))], [ONE], {}, [UNKNOWN_CLASS.format("r0")]),
    "an unknown class among alternatives": (
        [claim(first("r0", ask("x", "missing"), ask()))],
        [ONE],
        {},
        [UNKNOWN_CLASS.format("r0/s0")],
    ),
    "the second alternative": ([claim(first("r0", ask("x", "b"), ask()))], [ONE], {}, [""]),
    "neither alternative": ([claim(first("r0", ask("x", "b"), ask("y", "b")))], [ONE], {}, ["! " + FULL]),
    "allocated elsewhere": ([ELSEWHERE], [ONE], {}, ["! " + AWAY]),
    "allocated here": ([allocated(PENDING)], [], {}, [""]),
    "used by it already": ([allocated(PENDING, users=[USER])], [], {}, [""]),
    "used by as many as may": (
        [allocated(PENDING, users=[{**USER, "uid": f"u{n}"} for n in range(MOST_USERS)])],
        [],
        {},
        ["! resourceclaim in use"],
    ),
    "its own use is among as many as may": (
        [allocated(PENDING, users=[USER, *({**USER, "uid": f"u{n}"} for n in range(MOST_USERS - 1))])],
        [],
        {},
        [""],
    ),
    "partitions, gate off": (
        [PENDING],
        [rslice(part("1", {"set": {"x": "1"}}), count=2), counters({"set": {"x": "1"}}, count=2)],
        {"gates": {"DRAPartitionableDevices": False}},
        ["! " + FULL],
    ),
}


@pytest.mark.parametrize(("claims", "slices", "words", "said"), PLACES.values(), ids=PLACES)
def test_where_a_pod_fits(claims, slices, words, said):
    assert World(claims, slices, **words).ask(pod("c0")) == said


WRITTEN = {
    "devices": ([PENDING], [BOUND]),
    "devices, protected already": (
        [{**PENDING, "metadata": {**PENDING["metadata"], "finalizers": [FINALIZER]}}],
        [BOUND],
    ),
    "devices of the second alternative": (
        [claim(first("r0", ask("x", "b"), ask()))],
        ["r0/s1=a/p1/1 for pod, protected"],
    ),
    "devices for an administrator": ([ADMIN, allocated(OTHER)], [BOUND, "r0=a/p1/1, protected"]),
    "a use of what is allocated": ([allocated(PENDING)], [BOUND]),
    "a use beside another": (
        [allocated(PENDING, users=[{**USER, "uid": "other", "name": "other"}])],
        ["r0=a/p1/1 for other pod, protected"],
    ),
    "nothing new": ([allocated(PENDING, users=[USER])], [BOUND]),
}


@pytest.mark.parametrize(("claims", "stored"), WRITTEN.values(), ids=WRITTEN)
def test_what_is_written(claims, stored):
    world = World(claims, [ONE])

    assert world.bind(pod("c0")) == ""
    assert world.stored() == stored


def test_an_allocation_says_when_and_where():
    world = World([PENDING], [ONE])
    world.bind(pod("c0"))
    (stored,) = world.client.objects(RESOURCE_CLAIMS)

    assert stored["status"]["allocation"] == {**got("r0=a/p1/1"), "allocationTimestamp": "2026-01-01T00:00:00Z"}
    assert stored["status"]["reservedFor"] == [USER]


def test_a_claim_that_changed_is_looked_at_again():
    world, asked = World([PENDING], [ONE]), pod("c0")
    world.ask(asked)
    world.plugin.reserve(asked, "n1")
    (stored,) = world.client.objects(RESOURCE_CLAIMS)
    changed = {**stored, "metadata": {**stored["metadata"], "finalizers": [FINALIZER], "labels": {"x": "y"}}}
    world.client.update(RESOURCE_CLAIMS, changed, "default")

    assert world.plugin.pre_bind(asked, "n1") == ""
    assert world.stored() == [BOUND]


LOST = {
    "allocated": (allocated(PENDING, got("r0=a/p1/9")), "got allocated elsewhere in the meantime"),
    "being deleted": (deleted(PENDING), "got deleted in the meantime"),
}


@pytest.mark.parametrize(("now", "why"), LOST.values(), ids=LOST)
def test_somebody_else_was_faster(now, why):
    world, asked = World([PENDING], [ONE]), pod("c0")
    world.ask(asked)
    world.plugin.reserve(asked, "n1")
    world.client.delete(RESOURCE_CLAIMS, "c0", "default")
    world.client.seed(RESOURCE_CLAIMS, now)

    assert world.plugin.pre_bind(asked, "n1") == f"claim default/c0 {why}"


def test_what_was_reserved_and_not_written_is_free_again():
    world, one, two = World([PENDING, OTHER], [ONE]), pod("c0"), pod("c1")
    world.ask(one)
    world.plugin.reserve(one, "n1")

    taken = world.ask(two), world.ask(pod("c0"))
    world.plugin.unreserve(one, "n1")

    assert taken == (["! " + FULL], ["! resource claim default/c0 is in the process of being allocated"])
    assert (world.ask(two), world.stored()) == ([""], ["-", "-"])


def test_what_was_written_is_in_use_before_it_is_seen():
    world, one = World([PENDING, OTHER], [ONE]), pod("c0")
    world.ask(one)
    known = world.plugin._claims
    world.plugin.reserve(one, "n1")
    world.plugin.pre_bind(one, "n1")
    world.plugin.unreserve(one, "n1")

    assert DeviceId("a", "p1", "1") in known.usage.devices


def test_a_claim_that_was_given_back_unseen_counts_no_longer():
    world, one = World([PENDING, OTHER], [ONE]), pod("c0")
    world.bind(one)
    world.knows(lambda: not world.plugin._claims._assumed)
    (stored, _) = world.client.objects(RESOURCE_CLAIMS)
    known = world.plugin._claims
    known.assume(stored, stored["status"]["allocation"])
    known.written(stored)
    newer = {**stored, "status": {}, "metadata": {**stored["metadata"], "resourceVersion": "1000"}}

    known._claim_seen(stored, {**newer, "metadata": {**newer["metadata"], "resourceVersion": "1"}})
    before = len(known.usage.devices)
    known._claim_seen(stored, newer)

    assert (before, len(known.usage.devices)) == (1, 0)


def test_a_use_is_taken_back_when_binding_fails():
    world, asked = World([allocated(PENDING)], [ONE]), pod("c0")
    world.bind(asked)
    world.plugin.unreserve(asked, "n1")

    assert world.stored() == ["r0=a/p1/1, protected"]


def test_a_write_that_is_refused_gives_everything_back():
    world = World([PENDING], [ONE])
    world.client.fail_next("update", "resourceclaims", InternalError("no"))

    assert world.bind(pod("c0")) == "add finalizer to claim default/c0: no"
    assert world.ask(pod("c0")) == [""]


GIVEN_BACK = {
    "not used": ([ELSEWHERE], "deallocation of ResourceClaim completed", ["-, protected"]),
    "used by it alone": (
        [allocated(ELSEWHERE, got("r0=a/p2/2", node="elsewhere"), users=[USER])],
        "deallocation of ResourceClaim completed",
        ["-, protected"],
    ),
    "with what drivers say of it": (
        [allocated(PENDING, got("r0=a/p2/2", node="elsewhere"), devices=[{"device": "2"}])],
        "deallocation of ResourceClaim completed",
        ["-, protected"],
    ),
    "used by another": (
        [allocated(PENDING, got("r0=a/p2/2", node="elsewhere"), users=[{**USER, "uid": "other", "name": "other"}])],
        "still not schedulable",
        ["r0=a/p2/2 for other, protected"],
    ),
    "nothing allocated": ([PENDING], "still not schedulable", ["-"]),
}


@pytest.mark.parametrize(("claims", "said", "stored"), GIVEN_BACK.values(), ids=GIVEN_BACK)
def test_what_keeps_a_pod_off_every_node_is_given_back(claims, said, stored):
    world, asked = World(claims), pod("c0")
    world.ask(asked)

    assert world.give_up(asked) == said
    assert world.stored() == stored


def test_nothing_is_given_back_that_changed():
    world, asked = World([ELSEWHERE]), pod("c0")
    world.ask(asked)
    world.client.patch(RESOURCE_CLAIMS, "c0", {"metadata": {"labels": {"x": "y"}}}, "default")

    assert "has been modified" in world.give_up(asked)
    assert world.stored() == ["r0=a/p2/2, protected"]


def test_one_claim_of_two_is_given_back_when_only_it_is_elsewhere():
    world, asked = World([ELSEWHERE, allocated(OTHER, got("r0=a/p1/1"))]), pod("c0", "c1")

    assert world.ask(asked) == ["! " + AWAY]
    world.give_up(asked)
    assert world.stored() == ["-, protected", "r0=a/p1/1, protected"]


class Slow:
    """A clock on which every look at it takes a second."""

    def __init__(self):
        self.looks = 0

    def monotonic(self):
        self.looks += 1
        return float(self.looks)


@pytest.mark.parametrize(
    ("settings", "gates", "said"),
    [
        ({"filterTimeout": "5s"}, {}, ["! timed out trying to allocate devices"]),
        ({"filterTimeout": "0s"}, {}, ["! " + FULL]),
        ({"filterTimeout": "5s"}, {"DRASchedulerFilterTimeout": False}, ["! " + FULL]),
    ],
    ids=["limited", "zero means no limit", "gate off"],
)
def test_a_search_ends_after_a_while(settings, gates, said, monkeypatch):
    wanted = claim(*(ask(f"r{n}", selectors=cel(f"device.attributes['a'].x != {n}")) for n in range(9)))
    slices = [rslice(*(dev(n, attributes={"x": n}) for n in range(8)))]
    world = World([wanted], slices, settings=settings, gates=gates)
    clock = Slow()
    monkeypatch.setattr(world.clock, "monotonic", clock.monotonic)

    assert world.ask(pod("c0")) == said


def test_an_answer_is_kept_until_something_changes():
    world, asked = World([PENDING], [ONE]), pod("c0")
    world.ask(asked)
    answer = world.plugin.filter(asked, world.table)
    again = world.plugin.filter(asked, world.table)
    world.client.seed(DEVICE_CLASSES, device_class("c"))
    world.knows(lambda: world.plugin._claims.classes.get("c"))

    assert again is answer
    assert world.plugin.filter(asked, world.table) is not answer


def test_names_of_claims():
    rows = [{"name": "x", "resourceClaimName": "mine"}, {"name": "y", "resourceClaimTemplateName": "t"}]
    asked = {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"resourceClaims": rows}}

    with pytest.raises(NoClaim, match='pod "ns/p": ResourceClaim not created yet'):
        claim_names(asked)
    asked["status"] = {"resourceClaimStatuses": [{"name": "y", "resourceClaimName": "p-y"}]}
    assert claim_names(asked) == [("mine", False), ("p-y", True)]
    asked["status"] = {"resourceClaimStatuses": [{"name": "y"}]}
    assert claim_names(asked) == [("mine", False)]


def test_pods_without_claims_are_none_of_its_business():
    plugin = DynamicResources(PluginContext(name="DynamicResources"))
    asked = pod_info({}, table())

    assert plugin.skips(asked)
    assert plugin.pre_enqueue(asked.pod) == ""
    assert not plugin.may_wait(asked)
