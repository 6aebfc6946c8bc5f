"""Requests that list alternatives; rows of kubernetes' allocator tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import (
    allocate,
    ask,
    ask_all,
    attributed,
    cel,
    claim,
    dev,
    device_class,
    first,
    memory,
    rslice,
    shown,
    used,
)

NOTHING = "cannot allocate all claims"
ONE = [rslice(dev())]
TWO = [rslice(dev(1), dev(2))]
TWO_DRIVERS = [rslice(dev(1), dev(2)), rslice(dev(1), driver="b")]
SMALL, LARGE = memory("1Gi"), memory("2Gi")

GENERATIONS = [rslice(dev(1, attributes={"g": "v5"}))]


def generation(name):
    return cel(f"device.attributes['a'].g == '{name}'")


@pytest.mark.parametrize(
    ("slices", "body", "words", "wanted"),
    [
        pytest.param(ONE, claim(first("r0", ask("", "b"), ask())), {}, ["r0/s1=a/p1/1"], id="the first is not there"),
        pytest.param(
            TWO_DRIVERS, claim(first("r0", ask("", "b", count=3), ask("", "a", count=3))), {}, None, id="none is there"
        ),
        pytest.param(
            [rslice(dev(1, memory="2Gi"), dev(2, memory="2Gi"), dev(3, memory="1Gi"))],
            claim(
                ask(selectors=SMALL),
                first("r1", ask("", selectors=memory("4Gi")), ask("", count=2, selectors=LARGE)),
            ),
            {},
            ["r0=a/p1/3", "r1/s1=a/p1/1", "r1/s1=a/p1/2"],
            id="with expressions",
        ),
        pytest.param(
            attributed({"version": "1.0.0", "m": 8}, {"version": "2.0.0", "m": 2}, {"version": "1.0.0", "m": 1}),
            claim(
                ask(selectors=cel("device.attributes['a'].m >= 8")),
                first("r1", *[ask("", selectors=cel(f"device.attributes['a'].m >= {m}")) for m in (2, 1)]),
                constraints=[{"requests": ["r0", "r1"], "matchAttribute": "a/version"}],
            ),
            {},
            ["r0=a/p1/1", "r1/s1=a/p1/3"],
            id="a constraint on the whole list",
        ),
        pytest.param(
            attributed({"version": "1.0.0", "m": 8}, {"version": "2.0.0", "m": 2}),
            claim(
                ask(selectors=cel("device.attributes['a'].m >= 8")),
                first("r1", *[ask("", selectors=cel(f"device.attributes['a'].m >= {m}")) for m in (2, 1)]),
                constraints=[{"requests": ["r0", "r1/s0"], "matchAttribute": "a/version"}],
            ),
            {},
            ["r0=a/p1/1", "r1/s1=a/p1/2"],
            id="a constraint on one alternative",
        ),
        pytest.param(
            TWO,
            claim(first("r0", ask_all(""), ask())),
            {"usage": used("a/p1/1")},
            ["r0/s1=a/p1/2"],
            id="not all are free",
        ),
        pytest.param(
            TWO, claim(ask(), first("r1", ask_all(""), ask())), {}, ["r0=a/p1/1", "r1/s1=a/p1/2"], id="not all are left"
        ),
        pytest.param(
            [rslice(), rslice(dev(), driver="b", pool="p2")],
            claim(first("r0", ask_all(""), ask("", "b"))),
            {},
            ["r0/s1=b/p2/1"],
            id="all of none is nothing",
        ),
        pytest.param(
            [rslice(dev(), driver="b", pool="p2")],
            claim(first("r0", ask_all(""), ask("", "b"))),
            {},
            ["r0/s1=b/p2/1"],
            id="all of no slices is nothing",
        ),
        pytest.param(
            [*TWO, rslice(dev(), driver="b", pool="p2")],
            claim(first("r0", ask_all(""), ask("", "b"))),
            {"usage": used("a/p1/1")},
            ["r0/s1=b/p2/1"],
            id="all, but one is in use",
        ),
        pytest.param(
            [rslice(dev(1, memory="8Gi")), rslice(dev(2, memory="4Gi"), pool="p2")],
            claim(
                ask("r1", selectors=memory("8Gi")),
                first("r0", ask("", selectors=memory("8Gi")), ask("", selectors=memory("4Gi"))),
            ),
            {},
            ["r1=a/p1/1", "r0/s1=a/p2/2"],
            id="the best is gone",
        ),
        pytest.param(
            [rslice(dev(1, memory="8Gi")), rslice(dev(2, memory="4Gi"), pool="p2")],
            claim(
                first("r0", ask("", selectors=memory("8Gi")), ask("", selectors=memory("4Gi"))),
                ask("r1", selectors=memory("8Gi")),
            ),
            {},
            ["r0/s1=a/p2/2", "r1=a/p1/1"],
            id="the best is given back",
        ),
        pytest.param(
            ONE, claim(first("r0", ask("", "b", count=500), ask())), {}, ["r0/s1=a/p1/1"], id="too many at first"
        ),
        pytest.param(
            GENERATIONS,
            claim(first("r0", *[ask_all("", selectors=generation(g)) for g in ("v6", "v5")])),
            {},
            ["r0/s1=a/p1/1"],
            id="all of the other kind",
        ),
        pytest.param(
            [*GENERATIONS, rslice(dev(1, attributes={"g": "v5"}), pool="p2")],
            claim(first("r0", *[ask_all("", selectors=generation(g)) for g in ("v6", "v5")])),
            {},
            ["r0/s1=a/p1/1", "r0/s1=a/p2/1"],
            id="all of the other kind in all pools",
        ),
        pytest.param(
            [
                *GENERATIONS,
                rslice(dev(1, attributes={"g": "v5"}), dev(2, attributes={"g": "v6"}), pool="p2", node="n2"),
            ],
            claim(first("r0", *[ask_all("", selectors=generation(g)) for g in ("v6", "v5")])),
            {},
            ["r0/s1=a/p1/1"],
            id="all of the other kind on this node",
        ),
        pytest.param(
            attributed({"g": "v6", "ok": False}, {"g": "v5", "ok": False}, {"g": "v5", "ok": True}),
            claim(first("r0", *[ask_all("", selectors=generation(g)) for g in ("v6", "v5")])),
            {"classes": {"a": device_class("a", "device.driver == 'a' && device.attributes['a'].ok")}},
            ["r0/s1=a/p1/3"],
            id="all that the class means",
        ),
        pytest.param(
            attributed({"flag": True}, {"flag": False}, allowMultipleAllocations=True),
            claim(
                *[first(f"r{n}", ask("", selectors=cel("device.attributes['a'].flag")), ask()) for n in range(3)],
                constraints=[{"distinctAttribute": "a/flag", "requests": ["r0", "r1"]}],
            ),
            {},
            ["r0/s0=a/p1/1", "r1/s1=a/p1/2", "r2/s0=a/p1/1"],
            id="distinct for some",
        ),
    ],
)
def test_the_first_alternative_that_can_be_had_is_taken(slices, body, words, wanted):
    assert shown(allocate(slices, body, **words)) == (NOTHING if wanted is None else [wanted])
