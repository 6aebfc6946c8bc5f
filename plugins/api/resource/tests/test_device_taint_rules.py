"""DeviceTaintRules: validation, and since when a taint counts."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hyperkube_api.resource.device_taint_rules import DeviceTaintRuleStrategy, validate_rule

TAINT = {"key": "example.com/hot", "effect": "NoExecute"}
CALL = SimpleNamespace(clock=SimpleNamespace(now=lambda: datetime(2026, 1, 1, tzinfo=UTC)))


def messages(errors):
    return [f"{error.path} {error.reason.removeprefix('FieldValue')}" for error in errors]


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"deviceSelector": {"driver": "d.example.com", "pool": "p/q", "device": "gpu-0"}, "taint": TAINT}, []),
        ({"taint": TAINT}, []),
        ({"deviceSelector": {"driver": "!"}, "taint": TAINT}, ["spec.deviceSelector.driver Invalid"]),
        ({"deviceSelector": {"device": "A"}, "taint": TAINT}, ["spec.deviceSelector.device Invalid"]),
        ({"taint": {"key": "a b", "effect": "NoExecute"}}, ["spec.taint.key Invalid"]),
        ({"taint": {"key": "a"}}, ["spec.taint.effect Required"]),
        ({"taint": {"key": "a", "effect": "Some"}}, ["spec.taint.effect NotSupported"]),
    ],
    ids=["full", "no selector", "driver", "device", "key", "no effect", "effect"],
)
def test_what_is_wrong_with_a_rule(spec, errors):
    assert messages(validate_rule({"spec": spec})) == errors


def test_an_effect_that_was_there_before_may_stay():
    rule = {"spec": {"taint": {"key": "a", "effect": "Newer"}}}

    assert validate_rule(rule, rule) == []


@pytest.mark.parametrize(
    ("effect", "added", "found"),
    [
        ("NoExecute", "2025-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
        ("NoSchedule", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("NoSchedule", "2025-06-01T00:00:00Z", "2025-06-01T00:00:00Z"),
        ("NoExecute", None, "2026-01-01T00:00:00Z"),
    ],
    ids=["the same effect", "another effect", "another time", "no time"],
)
def test_the_time_follows_the_effect(effect, added, found):
    old = {"spec": {"taint": {**TAINT, "timeAdded": "2025-01-01T00:00:00Z"}}}
    new = {"spec": {"taint": {"key": "k", "effect": effect, **({"timeAdded": added} if added else {})}}}

    DeviceTaintRuleStrategy().prepare_update(CALL, new, old)

    assert new["spec"]["taint"]["timeAdded"] == found
