"""What workloads are warned of."""

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
REVISIONS = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
FRACTION = 'resources.requests[storage]: fractional byte value "4m" is invalid, must be an integer'


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


def test_a_stateful_set_is_warned_of_revisions_and_claims():
    claims = [{"spec": {"resources": {"requests": {"storage": "4m"}}}}]
    obj = a_workload(template={}, revisionHistoryLimit=-2, volumeClaimTemplates=claims)
    strategy = StatefulSetStrategy()

    assert strategy.warnings(None, obj, None) == [f"spec.volumeClaimTemplates[0].{FRACTION}", REVISIONS]
    assert strategy.warnings(None, obj, obj) == [f"spec.volumeClaimTemplates[0].Spec.{FRACTION}", REVISIONS]
