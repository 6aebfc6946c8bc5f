"""What is wrong with flow schemas and priority levels: one row for each rule, in Kubernetes' words."""

import pytest
from hyperkube_api.flowcontrol.bootstrap import bootstrap_objects
from hyperkube_api.flowcontrol.conditions import validate_conditions
from hyperkube_api.flowcontrol.flow_schemas.defaults import default_flow_schema
from hyperkube_api.flowcontrol.flow_schemas.validation import validate_flow_schema
from hyperkube_api.flowcontrol.priority_levels.defaults import default_priority_level
from hyperkube_api.flowcontrol.priority_levels.validation import validate_priority_level

from hyperkube.machinery.objects import copy_object

USER = {"kind": "User", "user": {"name": "u"}}
EVERY = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}


def a_schema(name="s", resource=None, url=None, subject=USER, **spec):
    rule = {"subjects": [subject], "resourceRules": [{**EVERY, **(resource or {})}]}
    if url is not None:
        rule["nonResourceRules"] = [{"verbs": ["get"], "nonResourceURLs": url}]
    base = {"priorityLevelConfiguration": {"name": "p"}, "matchingPrecedence": 5, "rules": [rule], **spec}
    return {"metadata": {"name": name}, "spec": base}


def a_level(name="p", **limited):
    response = {"limitResponse": {"type": "Reject"}}
    return {"metadata": {"name": name}, "spec": {"type": "Limited", "limited": {**response, **limited}}}


def said(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


S, R, N = (
    "spec.rules[0].subjects[0]",
    "spec.rules[0].resourceRules[0]",
    "spec.rules[0].nonResourceRules[0].nonResourceURLs",
)


@pytest.mark.parametrize(
    ("schema", "rows"),
    [
        (a_schema(subject={"kind": "ServiceAccount", "serviceAccount": {"name": "*"}, "user": {}}), [
            f"{S}.serviceAccount.namespace Required must specify namespace for service account",
            f"{S}.user Forbidden user is forbidden when subject kind is not 'User'",
        ]),
        (a_schema(subject={"kind": "Group", "serviceAccount": {}, "user": {}}), [
            f"{S}.group Required group is required when subject kind is 'Group'",
            f"{S}.serviceAccount Forbidden serviceAccount is forbidden when subject kind is not 'ServiceAccount'",
            f"{S}.user Forbidden user is forbidden when subject kind is not 'User'",
        ]),
        (a_schema(resource={"apiGroups": [], "resources": ["*", "a"], "namespaces": ["*", "a"]}), [
            f"{R}.apiGroups Required resource rules must supply at least one api group",
            f"{R}.resources Invalid if '*' is present, must not specify other resources",
            f"{R}.namespaces Invalid if '*' is present, must not specify other namespaces",
        ]),
        (a_schema(url=["*", "/a"]), [f"{N} Invalid if '*' is present, must not specify other non-resource URLs"]),
        (a_schema(url=["", "a", "/a b", "/a//b", "/a*", "/*/a", "/", "/a/*"]), [
            f"{N}[0] Invalid must not be empty",
            f"{N}[1] Invalid must start with slash",
            f"{N}[2] Invalid must not contain white-space",
            f"{N}[3] Invalid must not contain double slash",
            f"{N}[4] Invalid wildcard can only do suffix matching",
            f"{N}[5] Invalid wildcard can only do suffix matching",
        ]),
        (a_schema("catch-all"), ["spec Invalid spec of 'catch-all' must equal the fixed value"]),
    ],
)  # fmt: skip
def test_a_schema_that_breaks_a_rule_is_refused(schema, rows):
    assert said(validate_flow_schema(schema)) == rows


def test_the_distinguisher_is_shown_whole():
    errors = validate_flow_schema(a_schema(distinguisherMethod={"type": "X"}))

    assert [str(error) for error in errors] == [
        'spec.distinguisherMethod.type: Unsupported value: {"Type":"X"}: supported values: "ByNamespace", "ByUser"'
    ]


def test_namespaces_of_rules_are_labels():
    (error,) = validate_flow_schema(a_schema(resource={"namespaces": ["A_"]}))

    assert error.path == f"{R}.namespaces[0]"
    assert error.detail.startswith("each member of this list must be '*' or a DNS-1123 label; a lowercase RFC 1123")


@pytest.mark.parametrize(
    ("level", "rows"),
    [
        (a_level(lendablePercent=101, borrowingLimitPercent=-1, limitResponse={"type": "X"}), [
            'spec.limited.limitResponse.type NotSupported supported values: "Queue", "Reject"',
            "spec.limited.lendablePercent Invalid must be between 0 and 100, inclusive",
            "spec.limited.borrowingLimitPercent Invalid if specified, must be a non-negative integer",
        ]),
        (a_level("catch-all"), ["spec Invalid spec of 'catch-all' must equal the fixed value"]),
        (a_level("exempt"), [
            "spec.type Invalid must be 'Exempt' if and only if `name` is 'exempt'",
            "spec Invalid spec of 'exempt' except the 'spec.exempt' field must equal the fixed value",
        ]),
        ({"metadata": {"name": "exempt"}, "spec": {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 9}}}, []),
    ],
)  # fmt: skip
def test_a_level_that_breaks_a_rule_is_refused(level, rows):
    assert said(validate_priority_level(level)) == rows


def test_what_every_cluster_begins_with_breaks_no_rule():
    for made in bootstrap_objects("2024-01-01T00:00:00Z"):
        obj = copy_object(made)
        if obj["kind"] == "FlowSchema":
            default_flow_schema(obj)
            assert validate_flow_schema(obj) == []
        else:
            default_priority_level(obj)
            assert validate_priority_level(obj) == []


def test_conditions_have_types_of_their_own():
    status = {"conditions": [{"type": "A"}, {"type": "A"}, {"type": ""}]}

    assert said(validate_conditions({"status": status})) == [
        "status.conditions[1].type Duplicate A", "status.conditions[2].type Required must not be empty",
    ]  # fmt: skip
