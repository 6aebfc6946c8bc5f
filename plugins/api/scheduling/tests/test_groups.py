"""Pod groups and workloads: which policies there are, and that they stay."""

import pytest
from hyperkube_api.scheduling.pod_groups import PodGroupStrategy
from hyperkube_api.scheduling.priority_classes import PriorityClassStrategy
from hyperkube_api.scheduling.resources import SchedulingApi
from hyperkube_api.scheduling.workloads import WorkloadStrategy

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


def texts(errors):
    return [str(error) for error in errors]


LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ({}, ['spec.podGroupTemplateRef: Invalid value: "": must specify one of: `workload`']),
        (
            {"workload": {}},
            [
                "spec.podGroupTemplateRef.workload.workloadName: Required value",
                "spec.podGroupTemplateRef.workload.podGroupTemplateName: Required value",
            ],
        ),
        (
            {"workload": {"workloadName": "w.x", "podGroupTemplateName": "A"}},
            [f'spec.podGroupTemplateRef.workload.podGroupTemplateName: Invalid value: "A": {LABEL}'],
        ),
    ],
)
def test_origins_of_groups(origin, expected):
    obj = {"spec": {"podGroupTemplateRef": origin, "schedulingPolicy": GANG}}

    assert texts(PodGroupStrategy().validate(None, obj)) == expected


def test_the_status_of_a_group_names_claims_of_the_group():
    old = {**group(GANG), "status": {}}
    obj = {**group(GANG), "status": {"resourceClaimStatuses": [{"name": "a"}], "conditions": [{"type": "A"}]}}
    errors = texts(PodGroupStrategy().validate_status_update(None, obj, old))

    assert errors[0].startswith('status.conditions[0].status: Unsupported value: ""')
    assert errors[-1] == (
        'status.resourceClaimStatuses[0].name: Invalid value: "a": must match the name of an entry in '
        "`spec.resourceClaims`"
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"controllerRef": {"apiGroup": "apps"}},
            ["spec.controllerRef.kind: Required value", "spec.controllerRef.name: Required value"],
        ),
        (
            {"controllerRef": {"kind": "a/b", "name": ".."}},
            [
                "spec.controllerRef.kind: Invalid value: \"a/b\": may not contain '/'",
                "spec.controllerRef.name: Invalid value: \"..\": may not be '..'",
            ],
        ),
        (
            {"podGroupTemplates": [{"name": "A"}] * 2},
            [
                (
                    'spec.podGroupTemplates[1]: Duplicate value: {"name":"A","schedulingPolicy":{},'
                    '"schedulingConstraints":null}'
                ),
                f'spec.podGroupTemplates[0].name: Invalid value: "A": {LABEL}',
                'spec.podGroupTemplates[0].schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
                f'spec.podGroupTemplates[1].name: Invalid value: "A": {LABEL}',
                'spec.podGroupTemplates[1].schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
            ],
        ),
    ],
)
def test_workloads(change, expected):
    spec = {"podGroupTemplates": [{"name": "a", "schedulingPolicy": GANG}], **change}

    assert texts(WorkloadStrategy().validate(None, {"spec": spec})) == expected


def test_the_controller_of_a_workload_stays():
    old = {"spec": {"controllerRef": {"kind": "Job", "name": "a"}}}
    new = {"spec": {"controllerRef": {"kind": "Job", "name": "b"}}}

    assert texts(WorkloadStrategy().validate_update(None, new, old)) == [
        'spec.controllerRef: Invalid value: {"kind":"Job","name":"b"}: field is immutable'
    ]


def test_a_priority_class_says_whom_it_preempts():
    errors = PriorityClassStrategy().validate(None, {"metadata": {"name": "a"}, "preemptionPolicy": ""})

    assert texts(errors) == ["preemptionPolicy: Required value"]
