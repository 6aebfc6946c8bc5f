"""Pods of higher priority come first."""

from hyperkube_scheduler.priority_sort import PrioritySort

from hyperkube.plugin import PluginContext


def test_higher_priority_comes_first_then_the_older_one():
    sort = PrioritySort(PluginContext(name="PrioritySort"))
    low_old = ({"spec": {"priority": 1}}, 1.0)
    low_new = ({"spec": {"priority": 1}}, 2.0)
    high = ({"spec": {"priority": 9}}, 3.0)
    none = ({"spec": {}}, 0.0)

    ordered = sorted([low_new, none, high, low_old], key=lambda item: sort.sort_key(*item))

    assert ordered == [high, low_old, low_new, none]
