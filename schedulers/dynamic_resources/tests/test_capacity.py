"""Devices that several claims share by capacity; the rows are those of kubernetes' allocator tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import (
    CLASSES,
    SHARING,
    allocate,
    ask,
    ask_all,
    cel,
    claim,
    counters,
    dev,
    device_class,
    first,
    memory,
    part,
    rslice,
    shown,
    used,
)
from hyperkube_scheduler.dynamic_resources.capacity import Capacity
from hyperkube_scheduler.dynamic_resources.features import Features
from hyperkube_scheduler.dynamic_resources.reasons import CannotAllocate
from hyperkube_scheduler.dynamic_resources.usage import Usage

from hyperkube.machinery.quantity import parse

NOTHING = "cannot allocate all claims"
RANGE = {"default": "2", "validRange": {"min": "2", "step": "2", "max": "4"}}
ALONE = {"a": device_class("a", "device.driver == 'a' && !device.allowMultipleAllocations")}


def shared(name=1, x="", policy=None, /, **spec):
    """Return a device that several may have, with so much of capacity ``x``."""
    capacity = {"x": {"value": x, **({"requestPolicy": policy} if policy else {})}} if x else {}
    return dev(name, allowMultipleAllocations=True, **({"capacity": capacity} if capacity else {}), **spec)


def choices(*values):
    return {"default": values[0], "validValues": list(values)}


def two(*amounts):
    """Return two claims, each for so much."""
    return [claim(ask(amount=amount), name=f"c{number}") for number, amount in enumerate(amounts)]


def given(written):
    """Return ``device:amount`` for each device of each claim."""
    if isinstance(written, str):
        return written
    return [
        [f"{row['device']}:{(row.get('consumedCapacity') or {}).get('x', '')}" for row in each["devices"]["results"]]
        for each in written
    ]


@pytest.mark.parametrize(
    ("devices", "claims", "words", "wanted"),
    [
        pytest.param(
            [dev(allowMultipleAllocations=True, capacity={"y": {"value": "1"}})], two("1"), {}, None, id="not had"
        ),
        pytest.param(
            [dev(allowMultipleAllocations=True, capacity={"y": {"value": "1"}})],
            [claim(ask_all(amount="1"))],
            {},
            None,
            id="all, not had",
        ),
        pytest.param([shared()], two("", ""), {}, [["1:"], ["1:"]], id="nothing is counted"),
        pytest.param(
            [shared(1, "1"), shared(2, "1")], two("", ""), {}, [["1:1"], ["2:1"]], id="who does not ask takes all"
        ),
        pytest.param([shared(1, "2")], two("", ""), {}, None, id="who does not ask leaves nothing"),
        pytest.param([shared(1, "2")], two("1", "1"), {}, [["1:1"], ["1:1"]], id="half each"),
        pytest.param([shared(1, "4", RANGE)], two("", ""), {}, [["1:2"], ["1:2"]], id="the default each"),
        pytest.param([shared(1, "1", choices("0"))], two("", ""), {}, [["1:0"], ["1:0"]], id="a default of nought"),
        pytest.param([shared(1, "1", choices("0"))], two("1"), {}, None, id="nought alone"),
        pytest.param([shared(1, "4", RANGE)], two("1", "1"), {}, [["1:2"], ["1:2"]], id="the least each"),
        pytest.param([shared(1, "4", RANGE)], two("3"), {}, [["1:4"]], id="in steps"),
        pytest.param([shared(1, "4", choices("1", "2"))], two("2"), {}, [["1:2"]], id="a choice"),
        pytest.param([shared(1, "3", choices("1", "3"))], two("2"), {}, [["1:3"]], id="the next choice"),
        pytest.param([shared(1, "2", RANGE)], two("1", "2"), {}, None, id="more than there is"),
        pytest.param([shared(1, "10", RANGE)], two("6"), {}, None, id="more than one may have"),
        pytest.param([shared(1, "4", RANGE)], two("2"), {"usage": used(amounts="2")}, [["1:2"]], id="the rest"),
        pytest.param(
            [shared(1, "2", RANGE), shared(2, "2", RANGE)],
            two("2"),
            {"usage": used(amounts="2")},
            [["2:2"]],
            id="the next",
        ),
        pytest.param([shared(1, "2", RANGE)], two("2"), {"usage": used(amounts="2")}, None, id="nothing is left"),
        pytest.param(
            [shared(1, "2", RANGE)],
            [claim(first("r0", ask("", amount="4"), ask("", amount="2"), ask("")))],
            {},
            [["1:2"]],
            id="an alternative",
        ),
        pytest.param([shared(1, "2"), shared(2)], [claim(ask_all(amount="2"))], {}, [["1:2"]], id="all that have any"),
        pytest.param(
            [shared(1, "2"), shared(2, "1")], [claim(ask_all(amount="2"))], {}, [["1:2"]], id="all that have enough"
        ),
        pytest.param(
            [shared(1, "2"), shared(2, "1")],
            [claim(ask(amount="1"), ask_all("r1", amount="1"))],
            {"classes": CLASSES},
            [["1:1", "1:1", "2:1"]],
            id="one, then all",
        ),
        pytest.param(
            [shared(1, "2"), shared(2, "1")],
            [claim(ask_all(amount="1"))],
            {"classes": CLASSES, "usage": used(amounts="1")},
            [["1:1", "2:1"]],
            id="the rest of all",
        ),
        pytest.param(
            [shared(1, "1"), shared(2, "1")],
            [claim(ask(amount="1"), ask_all("r1", amount="1"))],
            {"classes": CLASSES},
            None,
            id="one, then not all",
        ),
        pytest.param(
            [shared(1, "1"), shared(2, "1")],
            [claim(ask_all(amount="1"))],
            {"classes": CLASSES, "usage": used(amounts="1")},
            [["2:1"]],
            id="all that have any left",
        ),
        pytest.param(
            [dev(capacity={"x": {"value": "1"}})], two("1"), {"classes": ALONE}, [["1:"]], id="a whole device"
        ),
        pytest.param(
            [dev(capacity={"x": {"value": "2", "requestPolicy": RANGE}})],
            two("1", "1"),
            {"classes": ALONE},
            None,
            id="a whole device for one",
        ),
        pytest.param([shared(1, "1")], two("1"), {"classes": ALONE}, None, id="shared ones are not meant"),
        pytest.param([shared(1, "2", RANGE)], two("1"), {"usage": used("a/p1/1")}, None, id="one has it alone"),
        pytest.param(
            [dev(capacity={"x": {"value": "2", "requestPolicy": RANGE}})],
            two("1"),
            {"usage": used(amounts="1")},
            None,
            id="not shared any more",
        ),
        pytest.param(
            [shared(1, "2", RANGE, attributes={"t": "t"})],
            [claim(ask(amount="1"), ask("r1", amount="1"), constraints=[{"distinctAttribute": "a/t"}])],
            {},
            None,
            id="the same is not distinct",
        ),
        pytest.param(
            [shared(1, "4", RANGE, attributes={"t": "t"}), shared(2, "4", RANGE, attributes={"t": "u"})],
            [claim(ask(amount="2"), ask("r1", amount="2"), constraints=[{"distinctAttribute": "a/t"}])],
            {},
            [["1:2", "2:2"]],
            id="distinct",
        ),
        pytest.param(
            [shared(2, "2", RANGE, attributes={"t": "u"}), shared(1, "4", RANGE, attributes={"t": "v"})],
            [
                claim(ask(amount="2"), ask("r1", amount="2"), constraints=[{"matchAttribute": "a/t"}]),
                claim(ask(amount="2"), name="c1"),
            ],
            {"classes": CLASSES},
            [["1:2", "1:2"], ["2:2"]],
            id="amounts are given back",
        ),
    ],
)
def test_amounts_are_taken_of_shared_devices(devices, claims, words, wanted):
    written = allocate([rslice(*devices)], *claims, **{"classes": SHARING, **words})

    assert given(written) == (NOTHING if wanted is None else wanted)


def test_each_share_has_an_id_of_its_own():
    written = allocate([rslice(shared(1, "2"))], *two("1", "1"), classes=SHARING)

    ids = [row["shareID"] for each in written for row in each["devices"]["results"]]
    assert len(set(ids)) == 2
    assert all(len(each) == 36 for each in ids)


def test_without_the_ability_capacity_cannot_be_asked_for():
    off = Features(capacity=False)
    alternatives = claim(first("r0", ask("", amount="1"), ask("", amount="1")))

    with pytest.raises(CannotAllocate, match=r"^claim default/c0, request r0: has capacity requests, but the "):
        allocate([rslice(dev())], *two("1"), features=off)
    with pytest.raises(CannotAllocate, match=r"^claim default/c0, subrequest s0: has capacity requests, but the "):
        allocate([rslice(dev())], alternatives, features=off)
    (written,) = allocate([rslice(shared(1, "1"))], *two(""), features=off)
    assert "shareID" not in written["devices"]["results"][0]


def test_a_shared_partition_is_charged_once():
    words = {"allowMultipleAllocations": True}
    sizes = [part(n, {"s": {"memory": m}}, **words) for n, m in ((1, "4Gi"), (2, "6Gi"), (3, "4Gi"))]
    slices = [rslice(*sizes, count=2), counters({"s": {"memory": "8Gi"}}, count=2)]
    body = claim(ask(), first("r1", *[ask("", selectors=memory(m)) for m in ("6Gi", "4Gi")]))

    assert shown(allocate(slices, body, classes=SHARING)) == [["r0=a/p1/1", "r1/s1=a/p1/3"]]


def test_counters_policies_and_alternatives_together():
    def both(name, x):
        capacity = {"x": {"value": x}, "y": {"value": "4", "requestPolicy": RANGE}}
        return {**part(name, {"s": {"x": x}, "t": {"y": "4"}}, allowMultipleAllocations=True), "capacity": capacity}

    slices = [
        rslice(both(1, "2"), both(2, "4"), both(3, "2"), count=2),
        counters({"s": {"x": "4"}, "t": {"y": "8"}}, count=2),
    ]
    rows = [
        ask("", amount="1", selectors=cel(f"device.capacity['a']['x'].compareTo(quantity('{x}')) >= 0")) for x in "42"
    ]
    body = claim(ask(amount="1"), ask("r2", amount="2"), first("r1", *rows))

    (written,) = allocate(slices, body)

    got = [(row["request"], row["device"], row["consumedCapacity"]) for row in written["devices"]["results"]]
    assert got == [
        ("r0", "1", {"x": "1", "y": "2"}),
        ("r2", "3", {"x": "2", "y": "2"}),
        ("r1/s1", "1", {"x": "1", "y": "2"}),
    ]


@pytest.mark.parametrize(
    ("policy", "wanted", "amount", "allowed"),
    [
        (None, None, "10Gi", True),
        (None, "3Gi", "3Gi", True),
        ({"default": "1Gi"}, None, "1Gi", True),
        ({"default": "1Gi", "validRange": {"min": "2Gi"}}, None, "1Gi", True),
        ({"validRange": {"min": "2Gi"}}, "1Gi", "2Gi", True),
        ({"validRange": {"min": "2Gi", "step": "2Gi"}}, "4Gi", "4Gi", True),
        ({"validRange": {"min": "2Gi", "step": "2Gi"}}, "5Gi", "6Gi", True),
        ({"validRange": {"min": "2Gi", "max": "4Gi", "step": "2Gi"}}, "5Gi", "6Gi", False),
        ({"validRange": {"min": "2Gi", "step": "3Gi"}}, None, "10Gi", False),
        ({"validValues": ["1Gi", "4Gi"]}, "2Gi", "4Gi", True),
        ({"validValues": ["1Gi", "4Gi"]}, "5Gi", "5Gi", False),
    ],
)
def test_a_policy_says_in_which_amounts(policy, wanted, amount, allowed):
    capacity = Capacity.of({"value": "10Gi", **({"requestPolicy": policy} if policy else {})})

    taken = capacity.taken(None if wanted is None else parse(wanted))

    assert (str(taken), capacity.allows(taken)) == (amount, allowed)


def test_usage_follows_claims():
    def row(device, **words):
        return {"request": "r", "driver": "a", "pool": "p1", "device": device, **words}

    usage = Usage()
    usage.put("c0", {"devices": {"results": [row("1"), row("2", adminAccess=True)]}})
    usage.put("c1", {"devices": {"results": [row("3", shareID="s", consumedCapacity={"x": "2"})]}})
    usage.put("c2", {"devices": {"results": [row("3", shareID="t", consumedCapacity={"x": "1"})]}})
    before = (
        sorted(each.device for each in usage.devices),
        {key.device: str(v["x"]) for key, v in usage.amounts.items()},
    )
    version = usage.version

    usage.put("c2", {"devices": {"results": [row("3", shareID="t", consumedCapacity={"x": "1"})]}})
    same = usage.version == version
    usage.put("c0", None)
    usage.put("c1", None)
    left = {key.device: str(v["x"]) for key, v in usage.amounts.items()}
    usage.put("c2", None)

    assert before == (["1"], {"3": "3"})
    assert same
    assert left == {"3": "1"}
    assert not any((usage.devices, usage.shares, usage.amounts))
