"""The validation of FlowSchemas."""

import pytest
from hyperkube_api.flowcontrol.flow_schemas.validation import validate_flow_schema

USER = {"kind": "User", "user": {"name": "u"}}
EVERY = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}
S, R, N = (
    "spec.rules[0].subjects[0]",
    "spec.rules[0].resourceRules[0]",
    "spec.rules[0].nonResourceRules[0].nonResourceURLs",
)


def a_schema(name="s", resource=None, url=None, subject=USER, **spec):
    rule = {"subjects": [subject], "resourceRules": [{**EVERY, **(resource or {})}]}
    if url is not None:
        rule["nonResourceRules"] = [{"verbs": ["get"], "nonResourceURLs": url}]
    base = {"priorityLevelConfiguration": {"name": "p"}, "matchingPrecedence": 5, "rules": [rule], **spec}
    return {"metadata": {"name": name}, "spec": base}


def messages(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


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
    assert messages(validate_flow_schema(schema)) == rows


def test_the_distinguisher_is_shown_whole():
    errors = validate_flow_schema(a_schema(distinguisherMethod={"type": "X"}))

    assert [str(error) for error in errors] == [
        'spec.distinguisherMethod.type: Unsupported value: {"Type":"X"}: supported values: "ByNamespace", "ByUser"'
    ]


def test_namespaces_of_rules_are_labels():
    (error,) = validate_flow_schema(a_schema(resource={"namespaces": ["A_"]}))

    assert error.path == f"{R}.namespaces[0]"
    assert error.detail.startswith("each member of this list must be '*' or a DNS-1123 label; a lowercase RFC 1123")
