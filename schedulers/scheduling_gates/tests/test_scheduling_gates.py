"""Gates hold a pod back, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates_test.go``.
"""

import pytest
from hyperkube_scheduler.scheduling_gates import SchedulingGates

from hyperkube.plugin import PluginContext


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        pytest.param([], "", id="none"),
        pytest.param(["foo"], "waiting for scheduling gates: [foo]", id="one"),
        pytest.param(["foo", "bar"], "waiting for scheduling gates: [foo bar]", id="two"),
    ],
)
def test_a_gated_pod_waits_and_names_its_gates(gates, expected):
    plugin = SchedulingGates(PluginContext(name="SchedulingGates"))

    assert plugin.pre_enqueue({"spec": {"schedulingGates": [{"name": each} for each in gates]}}) == expected


def test_nothing_else_in_the_cluster_helps_a_gated_pod():
    """Upstream registers the pod's own update alone, which tries the pod again in any case."""
    assert SchedulingGates.events_to_register == frozenset()
