"""How the API server serves ControllerRevisions."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.apps.controller_revisions import controller_revision_cells, validate_controller_revision

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2025-12-30T09:00:00Z"}


def messages(errors):
    return [str(error) for error in errors]


@pytest.mark.parametrize(
    ("revision", "errors"),
    [
        ({}, ["data: Required value: data is mandatory"]),
        ({"data": [1]}, ["data: Required value: data must be a valid JSON object"]),
        ({"data": "x", "revision": -1}, [
            "data: Required value: data must be a valid JSON object",
            "revision: Invalid value: -1: must be greater than or equal to 0",
        ]),
        ({"data": {}}, []),
    ],
)  # fmt: skip
def test_a_revision_holds_an_object(revision, errors):
    assert messages(validate_controller_revision(revision)) == errors


@pytest.mark.parametrize(
    ("owners", "shown"),
    [
        ([], "<none>"),
        ([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d"}], "<none>"),
        ([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": True}], "daemonset.apps/d"),
        ([{"apiVersion": "v1", "kind": "Odd", "name": "d", "controller": True}], "odd/d"),
    ],
    ids=["no-owner", "no-controller", "controller", "core"],
)
def test_a_revision_row_shows_whose_it_is(owners, shown):
    obj = {"metadata": {**META, "ownerReferences": owners}, "revision": 7}

    assert controller_revision_cells(obj, NOW) == ["a", shown, 7, "2d3h"]
