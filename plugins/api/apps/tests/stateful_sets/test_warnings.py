"""The warnings about StatefulSets."""

from hyperkube_api.apps.stateful_sets.strategy import StatefulSetStrategy

TEMPLATE = {"spec": {"terminationGracePeriodSeconds": -1}}
REVISIONS = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
FRACTION = 'resources.requests[storage]: fractional byte value "4m" is invalid, must be an integer'


def a_workload(generation=1, **spec):
    return {"metadata": {"name": "a.b", "generation": generation}, "spec": {"template": TEMPLATE, **spec}}


def test_a_stateful_set_is_warned_of_revisions_and_claims():
    claims = [{"spec": {"resources": {"requests": {"storage": "4m"}}}}]
    obj = a_workload(template={}, revisionHistoryLimit=-2, volumeClaimTemplates=claims)
    strategy = StatefulSetStrategy()

    assert strategy.warnings(None, obj, None) == [f"spec.volumeClaimTemplates[0].{FRACTION}", REVISIONS]
    assert strategy.warnings(None, obj, obj) == [f"spec.volumeClaimTemplates[0].Spec.{FRACTION}", REVISIONS]
