"""How the API server serves RoleBindings."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.rbac.role_bindings import cluster_role_binding_cells, role_binding_cells, validate_binding

ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}
RBAC = "rbac.authorization.k8s.io"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T12:00:01Z"}
SUBJECTS = [
    {"kind": "User", "name": "u1"},
    {"kind": "Group", "name": "g"},
    {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
    {"kind": "User", "name": "u2"},
    {"kind": "Odd", "name": "o"},
]


@pytest.mark.parametrize(
    ("subject", "namespaced", "errors"),
    [
        ({"kind": "User", "apiGroup": RBAC, "name": "u", "namespace": "n"}, True, []),
        ({"kind": "Group", "apiGroup": "", "name": "u"}, True, [
            f'subjects[0].apiGroup: Unsupported value: "": supported values: "{RBAC}"',
        ]),
        ({"kind": "ServiceAccount", "name": "a"}, True, []),
        ({"kind": "ServiceAccount", "name": "a", "apiGroup": "x"}, False, [
            'subjects[0].apiGroup: Unsupported value: "x": supported values: ""',
            "subjects[0].namespace: Required value",
        ]),
    ],
)  # fmt: skip
def test_a_subject_that_breaks_a_rule_is_refused(subject, namespaced, errors):
    binding = {"roleRef": ROLE, "subjects": [subject]}

    assert [str(error) for error in validate_binding(binding, namespaced=namespaced)] == errors


@pytest.mark.parametrize("cells", [role_binding_cells, cluster_role_binding_cells])
@pytest.mark.parametrize(
    ("subjects", "shown"), [(None, ["", "", ""]), (SUBJECTS, ["u1, u2", "g", "n/s"])], ids=["no-subjects", "all"]
)
def test_a_binding_row_shows_the_role_and_who_has_it(cells, subjects, shown):
    obj = {"metadata": META, "roleRef": {"kind": "Role", "name": "r"}, "subjects": subjects}

    assert cells(obj, NOW) == ["a", "Role/r", "0s", *shown]
