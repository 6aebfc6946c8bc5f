"""What the status of a definition says, and when."""

from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_host.apiserver.custom.definition_status import condition_of, next_status

from hyperkube.machinery.times import format_time

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=1)


def crd(plural="as", kind="A", *, schema=None, group="example.com", annotations=None, status=None, **names):
    named = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List", **names}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or {"type": "object"}},
    }
    return {
        "metadata": {"name": f"{plural}.{group}", "annotations": annotations or {}},
        "spec": {"group": group, "names": named, "versions": [version]},
        "status": status or {},
    }


def accepted(*args, **kwargs):
    made = crd(*args, **kwargs)
    return {**made, "status": next_status(made, [], NOW)}


def conditions(status):
    return [(one["type"], one["status"], one["reason"], one["message"]) for one in status["conditions"]]


def test_a_definition_gets_the_names_that_nobody_has():
    status = next_status(crd(shortNames=["x"], categories=["all"]), [accepted("bs", "B")], NOW)

    assert status["acceptedNames"] == crd(shortNames=["x"], categories=["all"])["spec"]["names"]
    assert conditions(status) == [
        ("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
        ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
    ]
    assert status["storedVersions"] == ["v1"]


@pytest.mark.parametrize(
    ("wanted", "reason", "message", "got"),
    [
        (crd("bs", "C"), "PluralConflict", '"bs" is already in use', {"kind": "C", "plural": ""}),
        (crd("cs", "C", singular="b"), "SingularConflict", '"b" is already in use', {"plural": "cs", "kind": "C"}),
        (
            crd("cs", "C", shortNames=["x", "bb", "b"]),
            "ShortNamesConflict",
            '["bb" is already in use, "b" is already in use]',
            {"plural": "cs", "singular": "c"},
        ),
        (
            crd("cs", "B", singular="c", listKind="CList"),
            "KindConflict",
            '"B" is already in use',
            {"singular": "c", "kind": ""},
        ),
        (crd("cs", "C", listKind="BList"), "ListKindConflict", '"BList" is already in use', {"kind": "C"}),
    ],
    ids=["plural", "singular", "short", "kind", "list-kind"],
)
def test_a_name_that_somebody_has_is_refused_and_the_others_are_taken(wanted, reason, message, got):
    status = next_status(wanted, [accepted("bs", "B", shortNames=["bb"])], NOW)

    assert got.items() <= status["acceptedNames"].items()
    assert conditions(status) == [
        ("NamesAccepted", "False", reason, message),
        ("Established", "False", "NotAccepted", "not all names are accepted"),
    ]


def test_what_is_established_stays_so_with_the_names_it_had():
    before = accepted(shortNames=["x"])
    changed = crd(shortNames=["x", "bb"], status=before["status"])

    status = next_status(changed, [accepted("bs", "B", shortNames=["bb"])], LATER)

    assert status["acceptedNames"]["shortNames"] == ["x"]
    assert condition_of({"status": status}, "Established") == "True"
    assert status["conditions"][0]["lastTransitionTime"] == format_time(LATER)
    assert status["conditions"][1]["lastTransitionTime"] == format_time(NOW)


@pytest.mark.parametrize(
    ("value", "status", "reason", "message"),
    [
        (None, "False", "MissingAnnotation", "protected groups must have approval annotation"),
        ("yes", "False", "InvalidAnnotation", "protected groups must have approval annotation"),
        ("https://example.com/1", "True", "ApprovedAnnotation", "approved in https://example.com/1"),
        ("unapproved, a test", "False", "UnapprovedAnnotation", 'not approved: "unapproved, a test"'),
    ],
)
def test_groups_of_the_community_show_whether_they_were_reviewed(value, status, reason, message):
    annotations = {"api-approved.kubernetes.io": value} if value else {}

    first = conditions(next_status(crd(group="a.k8s.io", annotations=annotations), [], NOW))[0]

    assert first[:3] == ("KubernetesAPIApprovalPolicyConformant", status, reason)
    assert first[3].startswith(message)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "object", "properties": {"a": {}}},
            (
                "True",
                "Violations",
                "spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields",
            ),
        ),
        (
            {"type": "object", "$ref": "x"},
            (
                "Unknown",
                "StructuralError",
                "failed to check validation schema for version v1: OpenAPIV3Schema '$ref' is not supported",
            ),
        ),
    ],
)
def test_a_schema_that_is_not_structural_is_told_until_it_is(schema, expected):
    status = next_status(crd(schema=schema), [], NOW)

    assert conditions(status)[-1] == ("NonStructuralSchema", *expected)
    assert condition_of({"status": next_status(crd(status=status), [], LATER)}, "NonStructuralSchema") == ""


def test_what_once_was_stored_stays_among_the_stored_versions():
    assert next_status(crd(status={"storedVersions": ["v0"]}), [], NOW)["storedVersions"] == ["v0", "v1"]
