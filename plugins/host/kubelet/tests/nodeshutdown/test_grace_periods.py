"""Which pods have how long when the machine shuts down."""

import pytest
from hyperkube_host.kubelet.command import COMMAND
from hyperkube_host.kubelet.nodeshutdown.grace_periods import GracePeriod, group_by_priority, read_grace_periods

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues

CRITICAL = 2_000_000_000
TOTAL, FOR_CRITICAL, BY_PRIORITY = (
    f"shutdown-grace-period{rest}" for rest in ("", "-critical-pods", "-by-pod-priority")
)


def periods(**given):
    values = {name.replace("_", "-"): value for name, value in given.items()}
    return read_grace_periods(FlagValues.of(COMMAND.all_flags(), values))


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        ({}, []),
        ({TOTAL: 30.0, FOR_CRITICAL: 10.0}, [(0, 20), (CRITICAL, 10)]),
        ({TOTAL: 30.0}, [(0, 30), (CRITICAL, 0)]),
        ({BY_PRIORITY: {"1000": "60", "0": "30"}}, [(0, 30), (1000, 60)]),
    ],
    ids=["none", "two groups", "nothing for critical pods", "by priority"],
)
def test_flags_make_groups_from_the_lowest_priority_on(flags, found):
    assert list(periods(**flags)) == found


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({TOTAL: 10.0, FOR_CRITICAL: 20.0}, "shutdownGracePeriodCriticalPods 20s must be <= shutdownGracePeriod 10s"),
        ({TOTAL: 0.5}, "shutdownGracePeriod 500ms must be either zero or otherwise >= 1 sec"),
        ({TOTAL: 10.0, BY_PRIORITY: {"0": "1"}}, "Cannot specify both shutdownGracePeriodByPodPriority and"),
        ({BY_PRIORITY: {"0": "soon"}}, "'0=soon' is not PRIORITY=SECONDS"),
        ({TOTAL: 10.0, "feature-gates": {"GracefulNodeShutdown": False}}, "requires feature gate GracefulNodeShutdown"),
        (
            {BY_PRIORITY: {"0": "1"}, "feature-gates": {"GracefulNodeShutdownBasedOnPodPriority": False}},
            "requires feature gate GracefulNodeShutdownBasedOnPodPriority",
        ),
    ],
)
def test_what_contradicts_is_refused(flags, says):
    with pytest.raises(UsageError, match=says):
        periods(**flags)


def test_a_pod_belongs_to_the_highest_priority_that_is_not_above_its_own():
    bounds = [GracePeriod(0, 30), GracePeriod(1000, 20), GracePeriod(CRITICAL, 10)]
    priorities = {"below": -5, "none": None, "between": 999, "at": 1000, "above": CRITICAL + 1000}
    pods = [{"metadata": {"name": name}, "spec": {"priority": value}} for name, value in priorities.items()]

    groups = group_by_priority(bounds, pods)

    assert [(group.period.priority, [pod["metadata"]["name"] for pod in group.pods]) for group in groups] == [
        (0, ["below", "none", "between"]),
        (1000, ["at"]),
        (CRITICAL, ["above"]),
    ]
