"""Pods of higher priority come first, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/queuesort/priority_sort_test.go``.
"""

import pytest
from hyperkube_scheduler.priority_sort import PrioritySort

from hyperkube.plugin import PluginContext

LOW, HIGH = 10, 100


@pytest.mark.parametrize(
    ("one", "other", "comes_first"),
    [
        pytest.param((LOW, 0.0), (HIGH, 0.0), False, id="lower"),
        pytest.param((HIGH, 0.0), (LOW, 0.0), True, id="higher"),
        pytest.param((HIGH, 1.0), (HIGH, 2.0), True, id="as high, earlier"),
        pytest.param((HIGH, 2.0), (HIGH, 1.0), False, id="as high, later"),
        pytest.param((None, 2.0), (-1, 1.0), True, id="none is nought"),
    ],
)
def test_the_order_of_two(one, other, comes_first):
    sort = PrioritySort(PluginContext(name="PrioritySort"))

    keys = [
        sort.sort_key({"spec": {"priority": priority} if priority is not None else {}}, queued_at)
        for priority, queued_at in (one, other)
    ]

    assert (keys[0] < keys[1]) is comes_first


def test_many_are_ordered():
    sort = PrioritySort(PluginContext(name="PrioritySort"))
    low_old, low_new = ({"spec": {"priority": 1}}, 1.0), ({"spec": {"priority": 1}}, 2.0)
    high, none = ({"spec": {"priority": 9}}, 3.0), ({"spec": {}}, 0.0)

    ordered = sorted([low_new, none, high, low_old], key=lambda item: sort.sort_key(*item))

    assert ordered == [high, low_old, low_new, none]
