"""What they export is what is installed under the old names; the promises of those that look at nodes alone."""

import pytest
from hyperkube_scheduler import legacy_priorities as priorities
from hyperkube_testing.scheduling.scheduler import SchedulingContract

from hyperkube.plugin.loader import installed

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
LIKES_DISKS = {"preferences": [{"label": "disk", "presence": True}]}
HAS_DISK = {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
LIMITS = {"name": "c", "resources": {"limits": {"cpu": "5"}, "requests": {"cpu": "3", "memory": "5000"}}}


def test_what_is_exported_is_sorted_and_installed():
    known = installed("scheduler")

    assert priorities.__all__ == sorted(priorities.__all__)
    assert {name: known[name].load() for name in priorities.__all__} == {
        name: getattr(priorities, name) for name in priorities.__all__
    }


@pytest.mark.parametrize("name", priorities.__all__)
def test_every_class_says_what_it_prefers(name):
    assert getattr(priorities, name).__doc__


class ByNodes(SchedulingContract):
    """A small node and a large one, of which the large one has all that may be liked."""

    nodes = (
        {"name": "a", "cpu": "4", "memory": "10000"},
        {"name": "b", "cpu": "6", "memory": "10000", "labels": {"disk": "ssd"}},
    )
    pods = ({"spec": {"containers": [LIMITS]}},)


class TestLeastRequestedPriority(ByNodes):
    plugin = priorities.LeastRequestedPriority


class TestMostRequestedPriority(ByNodes):
    plugin = priorities.MostRequestedPriority


class TestBalancedResourceAllocation(ByNodes):
    plugin = priorities.BalancedResourceAllocation


class TestRequestedToCapacityRatioPriority(ByNodes):
    plugin = priorities.RequestedToCapacityRatioPriority


class TestResourceLimitsPriority(ByNodes):
    plugin = priorities.ResourceLimitsPriority


class TestLabelPreference(ByNodes):
    plugin = priorities.LabelPreference
    settings = LIKES_DISKS


class TestNodeAffinityPriority(ByNodes):
    plugin = priorities.NodeAffinityPriority
    pods = (
        {
            "spec": {
                "containers": [LIMITS],
                "affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": HAS_DISK}]}},
            }
        },
    )


class TestTaintTolerationPriority(ByNodes):
    plugin = priorities.TaintTolerationPriority
    nodes = ({"name": "a", "taints": [{"key": "k", "effect": "PreferNoSchedule"}]}, {"name": "b"})
