"""Pod groups and workloads: which policies there are, and that they stay."""

import pytest
from hyperkube_api.scheduling.groups import PodGroupStrategy, WorkloadStrategy
from hyperkube_api.scheduling.resources import SchedulingApi

from hyperkube.plugin import PluginContext

GANG = {"gang": {"minCount": 2}}


def group(policy):
    return {"metadata": {"name": "g"}, "spec": {"schedulingPolicy": policy}}


def workload(*templates):
    return {"metadata": {"name": "w"}, "spec": {"podGroupTemplates": list(templates)}}


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        pytest.param({}, "must specify one of", id="none"),
        pytest.param({"basic": {}, **GANG}, "exactly one of", id="both"),
        pytest.param({"gang": {}}, "Required value", id="no-size"),
        pytest.param({"gang": {"minCount": -1}}, "greater than or equal to 1", id="negative"),
    ],
)
def test_a_policy_that_says_nothing_is_refused(policy, text):
    (error,) = PodGroupStrategy().validate(None, group(policy))

    assert text in str(error)


@pytest.mark.parametrize("policy", [{"basic": {}}, GANG], ids=["basic", "gang"])
def test_a_policy_is_one_of_two(policy):
    assert PodGroupStrategy().validate(None, group(policy)) == []


def test_a_policy_stays():
    (error,) = PodGroupStrategy().validate_update(None, group({"gang": {"minCount": 3}}), group(GANG))

    assert "spec.schedulingPolicy" in str(error)


def test_a_workload_has_templates_with_names_of_their_own():
    one = {"name": "a", "schedulingPolicy": GANG}

    assert WorkloadStrategy().validate(None, workload(one)) == []
    assert "Required" in str(WorkloadStrategy().validate(None, workload())[0])
    assert "Duplicate" in str(WorkloadStrategy().validate(None, workload(one, one))[0])
    assert "Too many" in str(WorkloadStrategy().validate(None, workload(*[one] * 9))[0])


@pytest.mark.parametrize(("gates", "versions"), [({}, ["v1"]), ({"GenericWorkload": True}, ["v1", "v1alpha2"])])
def test_groups_are_served_with_their_gate_only(gates, versions):
    offered = SchedulingApi(PluginContext(name="scheduling", gates=gates)).api_group_versions()

    assert [each.version for each in offered] == versions
