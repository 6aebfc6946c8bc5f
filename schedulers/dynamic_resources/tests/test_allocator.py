"""What an allocator gives to claims on one node; the rows are those of kubernetes' allocator tests."""

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
    attributed,
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
from hyperkube_scheduler.dynamic_resources.features import Features
from hyperkube_scheduler.dynamic_resources.requests import MOST_DEVICES, requests_of
from hyperkube_testing.scheduling.tables import table

NOTHING = "cannot allocate all claims"
ONE = [rslice(dev())]
TWO = [rslice(dev(1), dev(2))]
TWO_DRIVERS = [rslice(dev(1), dev(2)), rslice(dev(1), driver="b")]
SIZES = [rslice(dev(1, memory="1Gi"), dev(2, memory="2Gi"))]
SIZES_BACKWARDS = [rslice(dev(2, memory="2Gi"), dev(1, memory="1Gi"))]
SMALL, LARGE = memory("1Gi"), memory("2Gi")


@pytest.mark.parametrize(
    ("slices", "claims", "words", "wanted"),
    [
        pytest.param([], [], {}, [], id="nobody asks"),
        pytest.param(ONE, [], {}, [], id="nobody asks where there is something"),
        pytest.param(ONE, [claim(ask())], {}, [["r0=a/p1/1"]], id="one device"),
        pytest.param(
            [rslice(dev(), driver="b"), rslice(dev(), node="n2", pool="p2")],
            [claim(ask())],
            {"node": "n2"},
            [["r0=a/p2/1"]],
            id="the other node's",
        ),
        pytest.param(
            SIZES,
            [claim(ask("r0", selectors=SMALL), ask("r1", selectors=LARGE))],
            {},
            [["r0=a/p1/1", "r1=a/p1/2"]],
            id="small and large",
        ),
        pytest.param(
            SIZES_BACKWARDS,
            [claim(ask("r0", selectors=SMALL), ask("r1", selectors=LARGE))],
            {},
            [["r0=a/p1/1", "r1=a/p1/2"]],
            id="a request changes its mind for the next",
        ),
        pytest.param(
            SIZES_BACKWARDS,
            [claim(ask("r0", selectors=SMALL)), claim(ask("r1", selectors=LARGE), name="c1")],
            {},
            [["r0=a/p1/1"], ["r1=a/p1/2"]],
            id="a claim changes its mind for the next",
        ),
        pytest.param(
            [rslice(dev()), rslice(dev(), pool="p2")],
            [claim(ask("r0", count=2))],
            {},
            [["r0=a/p1/1", "r0=a/p2/1"]],
            id="from two pools",
        ),
        pytest.param([], [claim(ask())], {}, NOTHING, id="no slices"),
        pytest.param(ONE, [claim(ask()), claim(ask(), name="c1")], {}, NOTHING, id="too few for two claims"),
        pytest.param(
            TWO_DRIVERS,
            [claim(ask()), claim(ask("r0", "b"), name="c1")],
            {},
            [["r0=a/p1/1"], ["r0=b/p1/1"]],
            id="several drivers",
        ),
        pytest.param(ONE, [claim(ask())], {"usage": used("a/p1/1", "a/p1/2")}, NOTHING, id="all are in use"),
        pytest.param([], [claim(ask("r0", count=MOST_DEVICES))], {}, NOTHING, id="many devices may be asked for"),
        pytest.param(
            [rslice(*[dev(n) for n in range(MOST_DEVICES)])],
            [claim(ask("r0", count=MOST_DEVICES))],
            {},
            [[f"r0=a/p1/{n}" for n in range(MOST_DEVICES)]],
            id="as many as there may be",
        ),
        pytest.param(
            [rslice(dev(), pool=pool) for pool in ("p3", "p2", "p1")],
            [claim(ask("r0", count=2))],
            {},
            [["r0=a/p1/1", "r0=a/p2/1"]],
            id="pools by name",
        ),
        pytest.param(
            [rslice(dev(n), count=3, name=f"s{n}") for n in (3, 2, 1)],
            [claim(ask("r0", count=2))],
            {},
            [["r0=a/p1/1", "r0=a/p1/2"]],
            id="slices by name",
        ),
    ],
)
def test_devices_are_taken_in_order(slices, claims, words, wanted):
    assert shown(allocate(slices, *claims, **words)) == wanted


@pytest.mark.parametrize(
    ("slices", "claims", "words", "wanted"),
    [
        pytest.param(ONE, [claim(ask_all())], {}, [["r0=a/p1/1"]], id="one"),
        pytest.param(
            [rslice(dev()), rslice(dev(), pool="p2")],
            [claim(ask_all())],
            {},
            [["r0=a/p1/1", "r0=a/p2/1"]],
            id="of all pools",
        ),
        pytest.param(
            TWO_DRIVERS,
            [claim(ask_all()), claim(ask("r0", "b"), name="c1")],
            {},
            [["r0=a/p1/1", "r0=a/p1/2"], ["r0=b/p1/1"]],
            id="and another",
        ),
        pytest.param(
            TWO_DRIVERS,
            [claim(ask("r0", "b")), claim(ask_all(), name="c1")],
            {},
            [["r0=b/p1/1"], ["r0=a/p1/1", "r0=a/p1/2"]],
            id="after another",
        ),
        pytest.param(ONE, [claim(ask()), claim(ask_all(), name="c1")], {}, NOTHING, id="one is gone by then"),
        pytest.param(ONE, [claim(ask_all()), claim(ask(), name="c1")], {}, NOTHING, id="nothing is left"),
        pytest.param([rslice()], [claim(ask_all())], {}, NOTHING, id="of no devices"),
        pytest.param([], [claim(ask_all())], {}, NOTHING, id="of no slices"),
        pytest.param(TWO, [claim(ask_all())], {"usage": used("a/p1/1")}, NOTHING, id="one is in use"),
        pytest.param(
            [rslice(dev(1), count=2), rslice(dev(2), node="n2", count=2)],
            [claim(ask_all())],
            {},
            [["r0=a/p1/1"]],
            id="of this node, in a pool of several",
        ),
    ],
)
def test_all_means_all_that_the_node_reaches(slices, claims, words, wanted):
    assert shown(allocate(slices, *claims, **words)) == wanted


@pytest.mark.parametrize(
    ("claims", "usage", "wanted"),
    [
        ([claim(ask(adminAccess=True))], used("a/p1/1"), [["r0=a/p1/1"]]),
        ([claim(ask_all(adminAccess=True))], used("a/p1/1"), [["r0=a/p1/1", "r0=a/p1/2"]]),
        ([claim(ask("r0", count=2, adminAccess=True))], used("a/p1/1"), [["r0=a/p1/1", "r0=a/p1/2"]]),
        ([claim(ask(adminAccess=True), ask_all("r1", adminAccess=True))], None, NOTHING),
        (
            [claim(ask(adminAccess=True)), claim(ask(adminAccess=True), name="c1")],
            None,
            [["r0=a/p1/1"], ["r0=a/p1/1"]],
        ),
        ([claim(ask()), claim(ask(adminAccess=True), name="c1")], None, [["r0=a/p1/1"], ["r0=a/p1/1"]]),
    ],
    ids=["in use", "all", "two", "each once in a claim", "two claims the same", "what the pod gets itself"],
)
def test_administrators_look_at_what_others_have(claims, usage, wanted):
    written = allocate(TWO, *claims, usage=usage)

    assert shown(written) == wanted
    if not isinstance(written, str):
        assert written[-1]["devices"]["results"][0]["adminAccess"] is True


KINDS = attributed({"type": "X"}, {"type": "Y"}, {"type": "Y"})
ONLY_X, ONLY_Y = cel("device.attributes['a'].type == 'X'"), cel("device.attributes['a'].type == 'Y'")


def many(count, **words):
    return rslice(*[dev(n) for n in range(count)], **words)


@pytest.mark.parametrize(
    ("slices", "body", "steps", "wanted"),
    [
        pytest.param([rslice(*[dev(n) for n in range(4)])], claim(ask("r0", count=5)), 16, None, id="one slice"),
        pytest.param(
            [rslice(dev(n), pool=f"p{n}") for n in range(4)], claim(ask("r0", count=5)), 16, None, id="many pools"
        ),
        pytest.param(
            KINDS,
            claim(ask("r1", count=2), ask("r2", selectors=ONLY_X)),
            12,
            ["r1=a/p1/2", "r1=a/p1/3", "r2=a/p1/1"],
            id="going back",
        ),
        pytest.param(
            KINDS,
            claim(
                first("r1", ask("", count=3, selectors=ONLY_Y), ask("", count=2)),
                first("r2", ask("", count=2), ask("", selectors=ONLY_X)),
            ),
            26,
            ["r1/s1=a/p1/2", "r1/s1=a/p1/3", "r2/s1=a/p1/1"],
            id="with alternatives",
        ),
        pytest.param(
            [many(2 * MOST_DEVICES)],
            claim(*[first(f"r{n}", ask("", count=MOST_DEVICES), ask("", count=MOST_DEVICES // 2)) for n in range(2)]),
            75,
            [f"r{n // 16}/s1=a/p1/{n}" for n in range(MOST_DEVICES)],
            id="two alternatives that are too many together",
        ),
        pytest.param(
            [many(MOST_DEVICES - 1), many(2, driver="b", pool="p2")],
            claim(first("r0", ask_all(""), ask("", count=2)), ask("r1", "b", count=2)),
            42,
            ["r0/s1=a/p1/0", "r0/s1=a/p1/1", "r1=b/p2/0", "r1=b/p2/1"],
            id="all that are too many together",
        ),
    ],
)
def test_no_combination_is_tried_twice(slices, body, steps, wanted):
    nodes = table(*NODES)
    asked = allocator(slices, nodes)

    found = asked.allocate("n1", 0, [(body, requests_of(body, CLASSES.get, Features()))])

    got = None if isinstance(found, str) else [f"{one.wanted.name}={one.device.id}" for one in found[0].chosen]
    assert got == wanted
    assert asked.steps <= steps


def test_a_search_ends_when_time_is_up():
    body = claim(ask("r0", count=6))
    slices = [rslice(*[dev(n) for n in range(8)])]

    assert allocate(slices, body, late=lambda: True) == "timed out trying to allocate devices"
    assert len(allocate(slices, body)) == 1


def test_many_claims_do_not_exhaust_the_stack():
    claims = [claim(*[ask(f"r{n}") for n in range(32)], name=f"c{index}") for index in range(40)]

    found = allocate([many(1280)], *claims)

    assert len({row for each in shown(found) for row in each}) == 1280 // 40 * 40


def test_partitions_get_ready_too():
    parts = [part(1, {"s": {"memory": "4Gi"}}, bindingConditions=["Ready"]), part(2, {"s": {"memory": "4Gi"}})]
    slices = [rslice(*parts, count=2), counters({"s": {"memory": "8Gi"}}, count=2)]

    (written,) = allocate(slices, claim(ask("r0", count=2)))

    assert [row.get("bindingConditions") for row in written["devices"]["results"]] == [["Ready"], None]
