"""Devices that are made ready once a node is chosen: who waits, for how long, and what comes of failures.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources_test.go``.
"""

import sys
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import ask, claim, dev, rslice
from plugin_world import START, USER, World, allocated, got, pod

from hyperkube.kinds.resources import EVENTS, RESOURCE_CLAIMS
from hyperkube.testing.waiting import eventually

READY, BROKEN = "Ready", "Broken"
CONDITIONS = {"bindingConditions": [READY], "bindingFailureConditions": [BROKEN]}
SLICES = [rslice(dev("1", bindsToNode=True, **CONDITIONS), dev("2", **CONDITIONS), dev("3"))]
PENDING, OTHER = claim(ask()), claim(ask(), name="c1")
AWAY = "resourceclaim not available on the node"
FAILED = 'claim {} binding failed: reason=Burnt, message="smoke"'


def told(kind, device="1", status="True"):
    """Return what a driver says of a device."""
    condition = {"type": kind, "status": status, "reason": "Burnt", "message": "smoke"}
    return {"driver": "a", "pool": "p1", "device": device, "conditions": [condition]}


def preparing(base=PENDING, *devices, since=START, device="1"):
    allocation = got(f"r0=a/p1/{device}", **CONDITIONS)
    return allocated(base, allocation, users=[USER], since=since, devices=devices)


LONG_AGO = START - timedelta(seconds=601)
PLACES = {
    "ready": (preparing(PENDING, told(READY)), "", "not asked"),
    "not ready yet": (preparing(), "", "not asked"),
    "failed": (preparing(PENDING, told(BROKEN)), AWAY, "deallocation of ResourceClaim completed"),
    "failed, not really": (preparing(PENDING, told(BROKEN, status="False")), "", "not asked"),
    "not ready in time": (preparing(since=LONG_AGO), AWAY, "deallocation of ResourceClaim completed"),
    "ready long ago": (preparing(PENDING, told(READY), since=LONG_AGO), "", "not asked"),
    "nothing to get ready, long ago": (allocated(PENDING, since=LONG_AGO), "", "not asked"),
}


@pytest.mark.parametrize(("stored", "why", "after"), PLACES.values(), ids=PLACES)
def test_an_allocation_that_failed_is_given_back(stored, why, after):
    world, asked = World([stored], SLICES), pod("c0")

    assert world.ask(asked) == [why and f"! {why}"]
    if why:
        assert world.give_up(asked) == after
        assert world.stored() == ["-, protected"]


def report(world, *devices, name="c0"):
    """Write what drivers say into a claim's status."""
    stored = world.client.get(RESOURCE_CLAIMS, name, "default")
    replaced(world, name, {**stored["status"], "devices": list(devices)})


def replaced(world, name, status):
    stored = world.client.get(RESOURCE_CLAIMS, name, "default")
    world.client.update(RESOURCE_CLAIMS, {**stored, "status": status}, "default", subresource="status")


def bound(claims, *reports, slices=SLICES, **words):
    """Bind a pod, with what drivers report while it waits; return why not, and the world."""
    world = World(claims, slices, **words)
    world.clock._chores = [lambda call=call: call(world) for call in reports]
    return world.bind(pod(*(each["metadata"]["name"] for each in claims))), world


def test_the_pod_waits_until_its_device_is_ready():
    why, world = bound([PENDING], lambda world: report(world, told(READY)))
    found = eventually(lambda: world.client.objects(EVENTS), why="a thread of the recorder writes it")
    events = [(each["reason"], each.get("note") or each.get("message")) for each in found]

    assert why == ""
    assert world.stored() == ["r0=a/p1/1 for pod, protected, devices"]
    assert events == [("BindingConditionsPending", "waiting for binding conditions for device on node n1")]


def test_what_has_to_be_is_written_into_the_allocation():
    _, world = bound([PENDING], lambda world: report(world, told(READY)))
    (stored,) = world.client.objects(RESOURCE_CLAIMS)
    (row,) = stored["status"]["allocation"]["devices"]["results"]

    assert {key: row[key] for key in CONDITIONS} == CONDITIONS
    assert stored["status"]["allocation"]["nodeSelector"] == got("r0=a/p1/1")["nodeSelector"]


def test_the_pod_gives_up_when_its_device_fails():
    why, world = bound([PENDING], lambda world: report(world, told(BROKEN)))

    assert why == FAILED.format("c0")
    assert world.stored() == ["r0=a/p1/1, protected, devices"]


def test_the_pod_does_not_wait_forever():
    why, world = bound([PENDING])

    assert why in {"claim c0 binding timeout", "device binding timeout"}
    assert 600 <= world.clock.passed <= 610


def test_the_pod_gives_up_when_its_claim_is_given_back():
    why, _ = bound([PENDING], lambda world: replaced(world, "c0", {}))

    assert why == "claim default/c0 got deallocated in the meantime"


def test_how_long_a_pod_waits_can_be_set():
    _, world = bound([PENDING], settings={"bindingTimeout": "30s"})

    assert 30 <= world.clock.passed <= 40


def test_a_claim_that_waited_before_is_late_sooner():
    earlier = allocated(PENDING, got("r0=a/p1/1", **CONDITIONS), since=START - timedelta(seconds=599))
    why, world = bound([earlier])

    assert why == "claim c0 binding timeout"
    assert world.clock.passed < 10


def test_all_claims_have_to_be_ready():
    why, world = bound(
        [PENDING, OTHER],
        lambda world: report(world, told(READY)),
        lambda world: report(world, told(READY, "2"), name="c1"),
    )

    assert why == ""
    assert world.clock.passed == 0


def test_one_claim_that_fails_is_enough():
    why, _ = bound(
        [PENDING, OTHER],
        lambda world: report(world, told(READY)),
        lambda world: report(world, told(BROKEN, "2"), name="c1"),
    )

    assert why == FAILED.format("c1")


def test_claims_without_conditions_are_not_waited_for():
    why, world = bound([claim(ask(count=3))], lambda world: report(world, told(READY), told(READY, "2")))

    assert why == ""
    assert world.clock.passed == 0
    assert bound([PENDING], slices=[rslice(dev("3"))])[0] == ""


@pytest.mark.parametrize("gate", ["DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"])
def test_without_the_gate_such_devices_are_not_given(gate):
    world = World([PENDING], SLICES, gates={gate: False})

    world.bind(pod("c0"))

    assert world.stored() == ["r0=a/p1/3 for pod, protected"]
