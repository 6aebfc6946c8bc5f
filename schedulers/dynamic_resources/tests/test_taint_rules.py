"""DeviceTaintRules keep claims off the devices that they select, as taints in slices do."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import ask, claim, dev, rslice
from plugin_world import World, pod

from hyperkube.kinds.resources import DEVICE_TAINT_RULES
from hyperkube.testing.waiting import eventually

ON = {"DRADeviceTaintRules": True}
FULL = ["! cannot allocate all claims"]


def world(gates, effect="NoSchedule", **selector):
    found = World([claim(ask())], [rslice(dev("1"))], gates=gates)
    spec = {"deviceSelector": selector, "taint": {"key": "k", "effect": effect, "timeAdded": "2026-01-01T00:00:00Z"}}
    found.client.seed(DEVICE_TAINT_RULES, {"metadata": {"name": "rule"}, "spec": spec})
    return found


@pytest.mark.parametrize(
    ("gates", "words", "said"),
    [
        (ON, {}, FULL),
        (ON, {"driver": "a", "pool": "p1", "device": "1"}, FULL),
        (ON, {"driver": "b"}, [""]),
        (ON, {"effect": "None"}, [""]),
        ({}, {}, [""]),
        ({**ON, "DRADeviceTaints": False}, {}, [""]),
    ],
    ids=["all devices", "this one", "another driver", "no effect", "the gate is off", "taints are off"],
)
def test_where_a_pod_fits(gates, words, said):
    assert world(gates, **words).ask(pod("c0")) == said


def test_a_rule_that_goes_lets_claims_in():
    found = world(ON)
    before = found.ask(pod("c0"))
    found.client.delete(DEVICE_TAINT_RULES, "rule")

    eventually(lambda: found.ask(pod("c0")) == [""])
    assert before == FULL
    assert "resourceslices" in found.wakes
