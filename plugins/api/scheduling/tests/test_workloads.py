"""The validation of Workloads."""

import pytest
from hyperkube_api.scheduling.workloads import WorkloadStrategy

GANG = {"gang": {"minCount": 2}}
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


def workload(*templates):
    return {"metadata": {"name": "w"}, "spec": {"podGroupTemplates": list(templates)}}


def test_a_workload_has_templates_with_names_of_their_own():
    one = {"name": "a", "schedulingPolicy": GANG}

    assert WorkloadStrategy().validate(None, workload(one)) == []
    assert "Required" in str(WorkloadStrategy().validate(None, workload())[0])
    assert "Duplicate" in str(WorkloadStrategy().validate(None, workload(one, one))[0])
    assert "Too many" in str(WorkloadStrategy().validate(None, workload(*[one] * 9))[0])


def texts(errors):
    return [str(error) for error in errors]


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
