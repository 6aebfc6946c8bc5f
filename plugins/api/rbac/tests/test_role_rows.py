"""The rows of roles and bindings in tables."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.rbac.role_bindings import cluster_role_binding_cells, role_binding_cells
from hyperkube_api.rbac.roles import cluster_role_cells, role_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T12:00:01Z"}
SUBJECTS = [
    {"kind": "User", "name": "u1"},
    {"kind": "Group", "name": "g"},
    {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
    {"kind": "User", "name": "u2"},
    {"kind": "Odd", "name": "o"},
]


@pytest.mark.parametrize("cells", [role_cells, cluster_role_cells])
def test_a_role_row_shows_when_it_was_made(cells):
    assert cells({"metadata": META}, NOW) == ["a", "2026-01-01T12:00:01Z"]


@pytest.mark.parametrize("cells", [role_binding_cells, cluster_role_binding_cells])
@pytest.mark.parametrize(
    ("subjects", "shown"), [(None, ["", "", ""]), (SUBJECTS, ["u1, u2", "g", "n/s"])], ids=["nobody", "all"]
)
def test_a_binding_row_shows_the_role_and_who_has_it(cells, subjects, shown):
    obj = {"metadata": META, "roleRef": {"kind": "Role", "name": "r"}, "subjects": subjects}

    assert cells(obj, NOW) == ["a", "Role/r", "0s", *shown]
