"""Devices that must be alike or differ, and the configuration that comes along; rows of kubernetes' allocator tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import (
    CLASSES,
    allocate,
    ask,
    ask_all,
    attributed,
    claim,
    dev,
    device_class,
    first,
    rslice,
    shown,
)
from hyperkube_scheduler.dynamic_resources.reasons import CannotAllocate

NOTHING = "cannot allocate all claims"
ONE = [rslice(dev())]
TWO_DRIVERS = [rslice(dev(1), dev(2)), rslice(dev(1), driver="b")]

V1 = {"version": "1.0.0", "numa": 1, "text": "t", "flag": True}
MATCHES = [{"matchAttribute": f"a/{name}"} for name in V1]


@pytest.mark.parametrize(
    ("slices", "body", "wanted"),
    [
        pytest.param(
            attributed(V1, V1), claim(ask(), ask("r1"), constraints=MATCHES), ["r0=a/p1/1", "r1=a/p1/2"], id="all kinds"
        ),
        pytest.param(ONE, claim(ask(), constraints=[{"matchAttribute": "a/nothing"}]), None, id="no such attribute"),
        *[
            pytest.param(
                attributed(V1, {**V1, name: other}),
                claim(ask("r0", count=2), constraints=[{"matchAttribute": f"a/{name}"}]),
                None,
                id=f"other {name}",
            )
            for name, other in {"version": "2.0.0", "numa": 2, "text": "u", "flag": False}.items()
        ],
        pytest.param(
            attributed(V1, {**V1, "version": "2.0.0"}),
            claim(ask(), ask("r1"), constraints=[{"requests": ["r0"], "matchAttribute": "a/version"}]),
            ["r0=a/p1/1", "r1=a/p1/2"],
            id="for one request",
        ),
        pytest.param(
            attributed({**V1, "text": "a"}, {**V1, "text": "b"}, {**V1, "text": "b"}),
            claim(
                ask(),
                ask("r1"),
                constraints=[{"requests": ["r0"], "matchAttribute": "a/version"}, {"matchAttribute": "a/text"}],
            ),
            ["r0=a/p1/2", "r1=a/p1/3"],
            id="changes its mind",
        ),
        pytest.param(
            attributed(
                {"version": "1.0.0", "numa": 0, "flag": True},
                {"version": "1.0.1", "numa": 1, "flag": False},
                {"version": "1.0.2", "numa": 2, "flag": True},
                {"version": "1.0.0", "numa": 3, "flag": True},
            ),
            claim(
                *[ask(f"r{n}") for n in range(4)],
                constraints=[
                    {"distinctAttribute": "a/flag", "requests": ["r0", "r1"]},
                    {"distinctAttribute": "a/version", "requests": ["r0", "r1", "r2"]},
                    {"distinctAttribute": "a/numa", "requests": ["r0", "r1", "r2", "r3"]},
                ],
            ),
            ["r0=a/p1/1", "r1=a/p1/2", "r2=a/p1/3", "r3=a/p1/4"],
            id="distinct",
        ),
        pytest.param(
            ONE,
            claim(ask(), constraints=[{"distinctAttribute": "a/flag", "requests": ["r0"]}]),
            None,
            id="distinct, unset",
        ),
        pytest.param(
            attributed(V1, V1),
            claim(ask("r0", count=2), constraints=[{"distinctAttribute": "a/text"}]),
            None,
            id="not distinct",
        ),
        pytest.param(
            attributed({"a/numa": 1}, {"numa": 1}, {"other/numa": 1}),
            claim(ask("r0", count=2), constraints=[{"matchAttribute": "a/numa"}]),
            ["r0=a/p1/1", "r0=a/p1/2"],
            id="the driver's own may lack the domain",
        ),
    ],
)
def test_constraints_look_at_attributes(slices, body, wanted):
    assert shown(allocate(slices, body)) == (NOTHING if wanted is None else [wanted])


def test_all_devices_must_keep_the_constraints():
    body = claim(ask_all(), constraints=[{"matchAttribute": "a/numa"}])
    text = "claim default/c0, request r0: cannot add device a/p1/2 because a claim constraint would not be satisfied"

    with pytest.raises(CannotAllocate, match=f"^{text}$"):
        allocate(attributed({"numa": 1}, {"numa": 2}), body)


CONFIG = [{"opaque": {"driver": "a", "parameters": {"of": "a"}}}]
CONFIG_B = [{"opaque": {"driver": "b", "parameters": {"of": "b"}}}]
WITH_CONFIG = {"a": device_class("a", config=CONFIG), "b": device_class("b", config=CONFIG_B)}


@pytest.mark.parametrize(
    ("slices", "body", "classes", "wanted"),
    [
        pytest.param(
            ONE, claim(ask()), WITH_CONFIG, [{**CONFIG[0], "source": "FromClass", "requests": ["r0"]}], id="of a class"
        ),
        pytest.param(
            TWO_DRIVERS,
            claim(ask(), ask("r1"), ask("r2", "b")),
            WITH_CONFIG,
            [
                {**CONFIG[0], "source": "FromClass", "requests": ["r0", "r1"]},
                {**CONFIG_B[0], "source": "FromClass", "requests": ["r2"]},
            ],
            id="of each class once",
        ),
        pytest.param(
            ONE, claim(ask(), config=CONFIG), CLASSES, [{**CONFIG[0], "source": "FromClaim"}], id="of a claim"
        ),
        pytest.param(
            [rslice(dev(1), dev(2), driver="b")],
            claim(
                first("r0", ask(), ask("", "b", count=2)),
                config=[{**CONFIG[0], "requests": ["r0/s0"]}, {**CONFIG_B[0], "requests": ["r0/s1"]}],
            ),
            CLASSES,
            [{**CONFIG_B[0], "source": "FromClaim", "requests": ["r0/s1"]}],
            id="of the chosen alternative",
        ),
        pytest.param(
            [rslice(dev(1), dev(2), driver="b"), rslice(dev(3), pool="p2")],
            claim(first("r0", ask("", "a", count=2), ask("", "b", count=2))),
            WITH_CONFIG,
            [{**CONFIG_B[0], "source": "FromClass", "requests": ["r0/s1"]}],
            id="of the chosen alternative's class",
        ),
    ],
)
def test_configuration_comes_along(slices, body, classes, wanted):
    (written,) = allocate(slices, body, classes=classes)

    assert written["devices"]["config"] == wanted
