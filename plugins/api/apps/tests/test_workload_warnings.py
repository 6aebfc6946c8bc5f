"""The warnings about workloads."""

import pytest
from hyperkube_api.apps.daemon_sets.strategy import DaemonSetStrategy
from hyperkube_api.apps.deployments.strategy import DeploymentStrategy
from hyperkube_api.apps.replica_sets import ReplicaSetStrategy
from hyperkube_api.apps.stateful_sets.strategy import StatefulSetStrategy

TEMPLATE = {"spec": {"terminationGracePeriodSeconds": -1}}
GRACE = (
    "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated "
    "as 1"
)
DOTS = (
    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
    "a DNS label is recommended: [must not contain dots]"
)


def a_workload(generation=1, **spec):
    return {"metadata": {"name": "a.b", "generation": generation}, "spec": {"template": TEMPLATE, **spec}}


@pytest.mark.parametrize(
    ("strategy", "named"),
    [
        (DeploymentStrategy, [DOTS]),
        (ReplicaSetStrategy, [DOTS]),
        (DaemonSetStrategy, []),
        (StatefulSetStrategy, []),
    ],
)
def test_names_are_warned_of_once_and_templates_whenever_something_changes(strategy, named):
    old = a_workload()

    assert strategy().warnings(None, old, None) == [*named, GRACE]
    assert strategy().warnings(None, old, old) == []
    assert strategy().warnings(None, a_workload(2), old) == [GRACE]
