"""What is wrong with claims, classes and pools, and what is said of it; rows of kubernetes' allocator tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import (
    allocate,
    ask,
    ask_all,
    cel,
    claim,
    dev,
    device_class,
    rslice,
    shown,
)
from hyperkube_scheduler.dynamic_resources.reasons import CannotAllocate

ONE = [rslice(dev())]


@pytest.mark.parametrize(
    ("slices", "body", "classes", "text"),
    [
        pytest.param(ONE, claim(ask()), {}, "could not retrieve device class a: ", id="no classes"),
        pytest.param(ONE, claim(ask("r0", "none")), None, "could not retrieve device class none: ", id="unknown class"),
        pytest.param(
            ONE,
            claim(ask("r0", "")),
            None,
            "claim default/c0, request r0: missing device class name (unsupported request type?)",
            id="empty class",
        ),
        pytest.param(
            ONE, claim(ask(selectors=[{}])), None, "CEL expression empty (unsupported selector type?)", id="selector"
        ),
        pytest.param(
            ONE, claim(ask(allocationMode="future-mode")), None, "unsupported count mode future-mode", id="mode"
        ),
        pytest.param(
            ONE,
            claim(ask(), constraints=[{}]),
            None,
            "constraint #0: empty constraint (unsupported constraint type?)",
            id="constraint",
        ),
        pytest.param(
            ONE,
            claim(ask(selectors=cel("noSuchVar"))),
            None,
            "claim default/c0: selector #0: CEL compile error: ",
            id="wrong expression",
        ),
        pytest.param(
            ONE,
            claim(ask()),
            {"a": device_class("a", "noSuchVar")},
            "class a: selector #0: CEL compile error: ",
            id="wrong expression of a class",
        ),
        pytest.param(
            ONE, claim(ask_all(selectors=cel("noSuchVar"))), None, "CEL compile error", id="wrong expression for all"
        ),
        pytest.param(
            ONE,
            claim(ask(selectors=cel("device.attributes['a'].healthy"))),
            None,
            "claim default/c0: selector #0 on device a/p1/1: CEL runtime error: no such key: healthy",
            id="runtime error",
        ),
        pytest.param(
            [rslice(dev(attributes={"flag": {}}))],
            claim(ask()),
            None,
            "CEL runtime error: attribute flag: unsupported attribute value",
            id="attribute without a value",
        ),
        pytest.param(
            [rslice(dev(attributes={"text": {"strings": ["x", "y"]}}))],
            claim(ask()),
            None,
            "unsupported attribute value",
            id="lists of values are off",
        ),
        pytest.param(
            [],
            claim(ask("r0", count=500)),
            None,
            "claim default/c0: number of requested devices 500 exceeds the claim limit of 32",
            id="too many",
        ),
        pytest.param(
            ONE, claim(ask("r0", count=32), ask("r1")), None, "33 exceeds the claim limit", id="too many together"
        ),
        pytest.param(
            [rslice(dev(), count=2)],
            claim(ask_all()),
            None,
            "claim default/c0, request r0: asks for all devices, but resource pool a/p1 is currently being updated",
            id="all of an incomplete pool",
        ),
        pytest.param(
            [rslice(dev(), dev())],
            claim(ask_all()),
            None,
            "claim default/c0, request r0: asks for all devices, but resource pool a/p1 is currently invalid",
            id="all of an invalid pool",
        ),
    ],
)
def test_what_is_wrong_stops_everything(slices, body, classes, text):
    with pytest.raises(CannotAllocate) as refused:
        allocate(slices, body, classes=classes)

    assert text in str(refused.value)


def test_a_device_that_is_not_tried_cannot_break_a_selector():
    healthy = ask(selectors=cel("device.attributes['a'].healthy"))

    assert shown(allocate([rslice(dev(1, attributes={"healthy": True}), dev(2))], claim(healthy))) == [["r0=a/p1/1"]]
