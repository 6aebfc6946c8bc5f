"""The validation of PodGroups."""

import pytest
from hyperkube_api.scheduling.pod_groups import PodGroupStrategy

GANG = {"gang": {"minCount": 2}}
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)


def group(policy):
    return {"metadata": {"name": "g"}, "spec": {"schedulingPolicy": policy}}


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


def texts(errors):
    return [str(error) for error in errors]


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
