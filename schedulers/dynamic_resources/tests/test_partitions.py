"""Pools and the counters that their devices share; the rows are those of kubernetes' allocator tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import (
    CLASSES,
    NODES,
    allocate,
    allocator,
    ask,
    ask_all,
    cel,
    claim,
    counters,
    dev,
    first,
    memory,
    part,
    rslice,
    shown,
    used,
)
from hyperkube_scheduler.dynamic_resources import selectors
from hyperkube_scheduler.dynamic_resources.features import Features
from hyperkube_scheduler.dynamic_resources.requests import requests_of
from hyperkube_scheduler.dynamic_resources.slices import Slices
from hyperkube_testing.scheduling.tables import table

NOTHING = "cannot allocate all claims"
INVALID = "invalid resource pools were encountered"
SETS = counters({"s": {"memory": "8Gi"}}, count=2)
PER_DEVICE = {"perDeviceNodeSelection": True}
REGION = {
    "nodeSelector": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "region", "operator": "In", "values": ["1"]}]}]
    }
}


def parts(*amounts, **words):
    """Return a slice of devices that take so much memory from set ``s``."""
    words.setdefault("count", 2)
    return rslice(*[part(number, {"s": {"memory": each}}) for number, each in enumerate(amounts, 1)], **words)


def alternatives(name, *amounts):
    return first(name, *[ask("", selectors=memory(amount)) for amount in amounts])


OFF = {"features": Features(partitions=False)}


@pytest.mark.parametrize(
    ("slices", "body", "words", "wanted"),
    [
        pytest.param([parts("4Gi"), SETS], claim(ask()), {}, ["r0=a/p1/1"], id="one"),
        pytest.param(
            [parts("4Gi", "6Gi", "4Gi"), SETS],
            claim(ask(), alternatives("r1", "6Gi", "4Gi")),
            {},
            ["r0=a/p1/1", "r1/s1=a/p1/3"],
            id="with alternatives",
        ),
        pytest.param(
            [parts("4Gi", "6Gi", "4Gi"), SETS], claim(ask(), ask("r1")), {}, ["r0=a/p1/1", "r1=a/p1/3"], id="several"
        ),
        pytest.param(
            [
                rslice(
                    *[
                        part(n, {"s": {"memory": m}, "t": {"cpus": c}})
                        for n, m, c in ((1, "4Gi", 4), (2, "6Gi", 6), (3, "4Gi", 4))
                    ],
                    count=2,
                ),
                counters({"s": {"memory": "18Gi"}, "t": {"cpus": 8}}, count=2),
            ],
            claim(ask(), alternatives("r1", "6Gi", "4Gi")),
            {},
            ["r0=a/p1/1", "r1/s1=a/p1/3"],
            id="of two sets",
        ),
        pytest.param(
            [
                rslice(
                    part(1, {"s": {"memory": "4Gi", "cpus": 6}, "t": {"cpus": 4, "memory": "2Gi"}}),
                    part(2, {"s": {"memory": "6Gi", "cpus": 4}, "t": {"cpus": 6, "memory": "6Gi"}}),
                    part(3, {"s": {"memory": "4Gi", "cpus": 4}, "t": {"cpus": 4, "memory": "4Gi"}}),
                    count=2,
                ),
                counters({"s": {"cpus": 8, "memory": "18Gi"}, "t": {"cpus": 12, "memory": "18Gi"}}, count=2),
            ],
            claim(ask(), ask("r1")),
            {},
            ["r0=a/p1/2", "r1=a/p1/3"],
            id="of several counters",
        ),
        pytest.param(
            [
                rslice(
                    *[
                        part(n, {"s": {"cpus": c, "memory": m}})
                        for n, c, m in ((1, 6, "4Gi"), (2, 4, "6Gi"), (3, 4, "4Gi"))
                    ],
                    count=2,
                ),
                counters({"s": {"cpus": 8, "memory": "18Gi"}}, count=2),
                rslice(
                    *[
                        part(n, {"s": {"cpus": c, "memory": m}})
                        for n, c, m in ((1, 6, "4Gi"), (2, 1, "7Gi"), (3, 1, "7Gi"))
                    ],
                    pool="p2",
                    count=2,
                ),
                counters({"s": {"cpus": 8, "memory": "18Gi"}}, pool="p2", count=2),
            ],
            claim(ask(), ask("r1")),
            {"usage": used("a/p1/2", "a/p1/3", "a/p2/1")},
            ["r0=a/p2/2", "r1=a/p2/3"],
            id="of several pools",
        ),
        pytest.param(
            [parts("5Gi", "4Gi", "4Gi"), counters({"s": {"memory": "8Gi", "unused": "1Gi"}}, count=2)],
            claim(ask("r0", count=2)),
            {},
            ["r0=a/p1/2", "r0=a/p1/3"],
            id="beside counters that nobody uses",
        ),
        pytest.param(
            [parts("4Gi", "16Gi"), counters({"s": {"memory": "18Gi"}}, count=2)],
            claim(ask()),
            {"usage": used("a/p1/2")},
            None,
            id="too little is left",
        ),
        pytest.param(
            [parts("4Gi", "20Gi"), counters({"s": {"memory": "18Gi"}}, count=2)],
            claim(ask()),
            {"usage": used("a/p1/2")},
            None,
            id="more is taken than there was",
        ),
        pytest.param([parts("4Gi"), SETS], claim(ask()), OFF, None, id="off"),
        pytest.param(
            [rslice(part(1, {"s": {"memory": "4Gi"}}), dev(2), count=2), SETS],
            claim(ask()),
            OFF,
            ["r0=a/p1/2"],
            id="off, beside a whole device",
        ),
        pytest.param(
            [rslice(dev(nodeName="n1"), node=PER_DEVICE)], claim(ask()), OFF, None, id="off, nodes per device"
        ),
        pytest.param(
            [
                rslice(
                    part(1, {"s": {"memory": "4Gi"}}, nodeName="n1"),
                    part(2, {"s": {"memory": "6Gi"}}, nodeName="n2"),
                    node=PER_DEVICE,
                    count=2,
                ),
                counters({"s": {"memory": "18Gi"}}, node=PER_DEVICE, count=2),
            ],
            claim(alternatives("r0", "6Gi", "4Gi")),
            {},
            ["r0/s1=a/p1/1"],
            id="nodes per device",
        ),
        pytest.param(
            [
                rslice(part(1, {"s": {"memory": "4Gi"}}, **REGION), node=PER_DEVICE, count=2),
                counters({"s": {"memory": "18Gi"}}, node=PER_DEVICE, count=2),
            ],
            claim(ask()),
            {},
            ["r0=a/p1/1"],
            id="regions per device",
        ),
        pytest.param(
            [
                rslice(
                    *[
                        part(n, {"s": {"memory": "4Gi"}}, **where)
                        for n, where in enumerate((REGION, {"nodeName": "n1"}, {"allNodes": True}), 1)
                    ],
                    node=PER_DEVICE,
                    count=2,
                ),
                counters({"s": {"memory": "18Gi"}}, node=PER_DEVICE, count=2),
                parts("4Gi", "4Gi", "4Gi", driver="b", pool="p2"),
                counters({"s": {"memory": "12Gi"}}, driver="b", pool="p2", count=2),
            ],
            claim(ask("r0", count=3), ask("r1", "b", count=3)),
            {},
            [*[f"r0=a/p1/{n}" for n in (1, 2, 3)], *[f"r1=b/p2/{n}" for n in (1, 2, 3)]],
            id="all kinds of nodes per device",
        ),
        pytest.param(
            [
                rslice(
                    *[
                        part(n, {"s": {f"cpu{n}": 1}, "t": {"mem": "10Gi"}}, attributes={"special": {"bool": n == 1}})
                        for n in (1, 2, 3)
                    ],
                    count=2,
                ),
                counters({"s": {f"cpu{n}": 1 for n in (1, 2, 3)}, "t": {"mem": "30Gi"}}, count=2),
            ],
            claim(ask("r0", count=2), ask("r1", selectors=cel("device.attributes['a'].special"))),
            {},
            ["r0=a/p1/2", "r0=a/p1/3", "r1=a/p1/1"],
            id="what was charged is given back",
        ),
        pytest.param(
            [
                counters({"s": {"memory": "8Gi"}}, count=3),
                parts("6Gi", "2Gi", count=3),
                rslice(part(3, {"s": {"memory": "6Gi"}}), node="n2", count=3),
            ],
            claim(alternatives("r0", "6Gi", "2Gi")),
            {"usage": used("a/p1/3")},
            ["r0/s1=a/p1/2"],
            id="another node's device takes from the same set",
        ),
        pytest.param(
            [
                rslice(
                    part(1, {"s": {"memory": "4Gi"}}, taints=[{"key": "k", "effect": "NoSchedule"}]),
                    part(2, {"s": {"memory": "4Gi"}}),
                    count=2,
                ),
                SETS,
            ],
            claim(ask("r0", count=2)),
            {},
            None,
            id="tainted",
        ),
    ],
)
def test_partitions_share_counters(slices, body, words, wanted):
    assert shown(allocate(slices, body, **words)) == (NOTHING if wanted is None else [wanted])


@pytest.mark.parametrize(
    "slices",
    [
        pytest.param([rslice(dev(), count=2, name="one"), rslice(dev(), count=2, name="two")], id="a device twice"),
        pytest.param(
            [
                *[rslice(dev(n), count=4) for n in (1, 2)],
                *[counters({"s": {}}, count=4, name=name) for name in ("one", "two")],
            ],
            id="a set twice",
        ),
        pytest.param([rslice(part(1, {"t": {}}), count=2), counters({"s": {}}, count=2)], id="no such set"),
        pytest.param([parts("8Gi"), counters({"s": {"other": "8Gi"}}, count=2)], id="no such counter"),
        pytest.param(
            [parts("8Gi", count=1), counters({"s": {"memory": "8Gi"}}, pool="p2")], id="a set of another pool"
        ),
        pytest.param(
            [
                counters({"s": {"memory": "8Gi"}}, count=3),
                parts("6Gi", count=3),
                rslice(part(3, {"t": {"memory": "6Gi"}}), node="n2", count=3),
            ],
            id="no such set for another node's device",
        ),
    ],
)
def test_nothing_is_taken_from_an_invalid_pool(slices):
    assert allocate(slices, claim(ask())) == INVALID


TWICE = [rslice(dev(), count=2, name="one"), rslice(dev(), count=2, name="two")]


def test_an_invalid_pool_does_no_harm_while_others_have_devices():
    slices = [*TWICE, rslice(dev(2), pool="p2")]

    assert shown(allocate(slices, claim(ask()))) == [["r0=a/p2/2"]]
    assert allocate(slices, claim(ask()), usage=used("a/p2/2")) == INVALID


def test_nothing_is_taken_from_a_pool_that_is_not_complete():
    assert allocate([rslice(dev(), count=2)], claim(ask())) == NOTHING


@pytest.mark.parametrize(
    ("slices", "wanted"),
    [
        pytest.param([rslice(dev(1), count=2), rslice(dev(2), count=2, generation=2)], None, id="newer, not complete"),
        pytest.param([rslice(dev(1)), rslice(dev(2), generation=2)], "2", id="newer"),
        pytest.param([rslice(dev(1), node="n2", count=2), rslice(dev(2), count=2)], "2", id="of several nodes"),
        pytest.param(
            [rslice(dev(1), count=2), rslice(dev(2), node="n2", count=2, generation=2)],
            None,
            id="newer, of another node",
        ),
        pytest.param(
            [
                *[rslice(dev(n), node="n2", count=2) for n in (1, 2)],
                *[rslice(dev(n), count=2, generation=2) for n in (1, 2)],
            ],
            "1",
            id="moved here",
        ),
        pytest.param(
            [*[rslice(dev(n), node="n2", count=2) for n in (1, 2)], rslice(dev(1), count=2, generation=2)],
            None,
            id="moves here",
        ),
        pytest.param(
            [
                *[rslice(dev(n), count=2) for n in (1, 2)],
                *[rslice(dev(n), node="n2", count=2, generation=2) for n in (1, 2)],
            ],
            None,
            id="moved away",
        ),
    ],
)
def test_the_newest_generation_counts(slices, wanted):
    """Unlike upstream, what moved away is not given any more: there a node does not see the newer slices of others."""
    assert shown(allocate(slices, claim(ask()))) == (NOTHING if wanted is None else [[f"r0=a/p1/{wanted}"]])


def test_a_pool_that_is_not_for_the_node_does_not_stop_those_who_want_all():
    slices = [rslice(dev()), rslice(dev(2), node="n2", pool="p2", count=2)]

    assert shown(allocate(slices, claim(ask_all()))) == [["r0=a/p1/1"]]


def test_a_change_of_a_slice_concerns_its_pool_alone():
    nodes = table(*NODES)
    slices = Slices([rslice(dev(), name="one"), rslice(dev(), node="n2", pool="p2", name="two")])
    before = {node: slices.reach(nodes).views(node, column)[0] for column, node in enumerate(nodes.names)}

    slices.put(rslice(dev(2), node="n2", pool="p2", name="two"))
    after = {node: slices.reach(nodes).views(node, column)[0] for column, node in enumerate(nodes.names)}

    assert after["n1"] is before["n1"]
    assert [device.id.device for device in after["n2"].devices] == ["2"]
    slices.remove(rslice(name="two"))
    assert slices.reach(nodes).columns(nodes).tolist() == [True, False]


def test_a_slice_may_change_its_pool_and_node():
    nodes = table(*NODES)
    slices = Slices([rslice(dev(), name="one")])
    slices.reach(nodes)

    slices.put(rslice(dev(), node="n2", pool="p2", name="one"))

    reach = slices.reach(nodes)
    assert reach.columns(nodes).tolist() == [False, True]
    assert [str(view.pool) for view in reach.views("n2", 1)] == ["a/p2"]


def test_a_device_is_shown_to_expressions_once(monkeypatch):
    seen = []
    real = selectors.device_value
    monkeypatch.setattr(selectors, "device_value", lambda *words: (seen.append(words), real(*words))[1])
    asked = allocator([rslice(dev(1), dev(2))], table(*NODES))
    wanted = claim(ask())

    for _ in range(3):
        assert not isinstance(asked.allocate("n1", 0, [(wanted, requests_of(wanted, CLASSES.get, Features()))]), str)

    assert len(seen) == 1
