"""Devices of many nodes, tainted ones, and those that must get ready; rows of kubernetes' allocator tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import (
    LOCAL,
    allocate,
    ask,
    ask_all,
    claim,
    dev,
    first,
    rslice,
    shown,
    used,
)
from hyperkube_scheduler.dynamic_resources.features import Features

NOTHING = "cannot allocate all claims"
ONE = [rslice(dev())]

REGION = {
    "nodeSelector": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "region", "operator": "In", "values": ["1"]}]}]
    }
}
PLANET = {
    "nodeSelector": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "planet", "operator": "In", "values": ["earth"]}]}]
    }
}
EVERYWHERE = {"allNodes": True}
PER_DEVICE = {"perDeviceNodeSelection": True}


def test_devices_of_many_nodes_say_where_they_can_be_used():
    slices = {
        "node": ONE,
        "region": [rslice(dev(), node=REGION)],
        "everywhere": [rslice(dev(), node=EVERYWHERE)],
        "bound": [rslice(dev(bindsToNode=True), node=PLANET)],
        "device": [rslice(dev(nodeName="n1"), node=PER_DEVICE)],
        "device's region": [rslice(dev(**REGION), node=PER_DEVICE)],
        "device everywhere": [rslice(dev(**EVERYWHERE), node=PER_DEVICE)],
    }
    found = {name: allocate(rows, claim(ask()))[0].get("nodeSelector") for name, rows in slices.items()}

    assert found == {
        "node": LOCAL,
        "region": REGION["nodeSelector"],
        "everywhere": None,
        "bound": LOCAL,
        "device": LOCAL,
        "device's region": REGION["nodeSelector"],
        "device everywhere": None,
    }


def test_devices_of_many_nodes_together_are_where_all_of_them_are():
    own = {"nodeSelector": LOCAL}
    wheres = {"p1": REGION, "p2": EVERYWHERE, "p3": PLANET, "p4": own}
    many = [rslice(dev(), node=where, pool=pool) for pool, where in wheres.items()]
    local = [rslice(dev(), node=REGION), rslice(dev(), pool="p2")]

    (written,) = allocate(many, claim(ask("r0", count=4)))
    (mixed,) = allocate(local, claim(ask("r0", count=2)))

    (term,) = written["nodeSelector"]["nodeSelectorTerms"]
    both = [each["nodeSelector"]["nodeSelectorTerms"][0]["matchExpressions"][0] for each in (REGION, PLANET)]
    assert term == {"matchExpressions": both, **LOCAL["nodeSelectorTerms"][0]}
    assert mixed["nodeSelector"] == LOCAL
    assert allocate([rslice(dev(), node=REGION)], claim(ask()), node="n2") == NOTHING


HARD = {"key": "k", "value": "v", "effect": "NoSchedule"}
HARDER = {"key": "k", "value": "w", "effect": "NoExecute"}
TAINTED = [rslice(dev(1, taints=[HARD]), dev(2, taints=[HARDER]))]
BOTH = [rslice(dev(taints=[HARD, HARDER]))]
TOLERATE = {"operator": "Exists", "key": "k", "effect": "NoSchedule"}
TOLERATE_HARDER = {"operator": "Equal", "key": "k", "value": "w", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("slices", "body", "words", "wanted"),
    [
        pytest.param(TAINTED, claim(ask()), {}, None, id="two devices"),
        pytest.param(BOTH, claim(ask()), {}, None, id="two taints"),
        pytest.param(TAINTED, claim(ask(tolerations=[TOLERATE_HARDER])), {}, "r0=a/p1/2", id="one is tolerated"),
        pytest.param(
            TAINTED,
            claim(first("r0", ask(), ask("", tolerations=[TOLERATE_HARDER]))),
            {},
            "r0/s1=a/p1/2",
            id="one is tolerated by an alternative",
        ),
        pytest.param(
            [rslice(dev(taints=[{**HARD, "effect": "None"}]))], claim(ask()), {}, "r0=a/p1/1", id="without effect"
        ),
        pytest.param(
            BOTH, claim(ask(tolerations=[TOLERATE, TOLERATE_HARDER])), {}, "r0=a/p1/1", id="both are tolerated"
        ),
        pytest.param(BOTH, claim(ask()), {"features": Features(taints=False)}, "r0=a/p1/1", id="off"),
        pytest.param(TAINTED, claim(first("r0", ask("", "b"), ask())), {}, None, id="alternatives"),
        pytest.param(
            TAINTED,
            claim(first("r0", ask("", "b"), ask())),
            {"features": Features(taints=False)},
            "r0/s1=a/p1/1",
            id="alternatives, off",
        ),
        pytest.param(BOTH, claim(ask(adminAccess=True)), {"usage": used("a/p1/1")}, None, id="administrators too"),
        pytest.param(
            BOTH,
            claim(ask(adminAccess=True)),
            {"usage": used("a/p1/1"), "features": Features(taints=False)},
            "r0=a/p1/1",
            id="administrators, off",
        ),
        pytest.param(BOTH, claim(ask_all()), {}, None, id="all"),
        pytest.param(BOTH, claim(ask_all()), {"features": Features(taints=False)}, "r0=a/p1/1", id="all, off"),
    ],
)
def test_taints_keep_off_those_who_do_not_tolerate_them(slices, body, words, wanted):
    assert shown(allocate(slices, body, **words)) == (NOTHING if wanted is None else [[wanted]])


def test_what_is_tolerated_is_written():
    (written,) = allocate(TAINTED, claim(ask(tolerations=[TOLERATE_HARDER])))

    assert written["devices"]["results"][0]["tolerations"] == [TOLERATE_HARDER]


def ready(name, number="", **spec):
    return dev(name, bindingConditions=[f"Ready{number}"], bindingFailureConditions=[f"Failed{number}"], **spec)


def test_devices_that_must_get_ready_say_when_they_are():
    slices = [rslice(dev(1), ready(2), ready(3, "3"))]

    (written,) = allocate(slices, claim(ask("r0", count=2), ask("r1")))

    rows = [(row["device"], row.get("bindingConditions")) for row in written["devices"]["results"]]
    assert rows == [("1", None), ("2", ["Ready"]), ("3", ["Ready3"])]
    assert written["devices"]["results"][1]["bindingFailureConditions"] == ["Failed"]
    assert allocate([rslice(ready(1))], claim(ask()), features=Features(binding=False)) == NOTHING


@pytest.mark.parametrize(
    ("slices", "wanted"),
    [
        (
            [rslice(ready(1)), rslice(dev(3), pool="p3"), rslice(dev(2), pool="p2")],
            ["r0=a/p2/2", "r0=a/p3/3"],
        ),
        (
            [rslice(ready(1), count=3, name="s1"), *[rslice(dev(n), count=3, name=f"s{n}") for n in (3, 2)]],
            ["r0=a/p1/1", "r0=a/p1/2"],
        ),
    ],
    ids=["pools with them come last", "slices do not"],
)
def test_devices_that_must_get_ready_wait_for_those_that_are(slices, wanted):
    assert shown(allocate(slices, claim(ask("r0", count=2)))) == [wanted]
