"""How the API server serves CSIDrivers."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.storage.csi_drivers import CSIDriverStrategy, csi_driver_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({}, [True, False, False, "<unset>", False, "<none>"]),
        (
            {
                "attachRequired": False,
                "podInfoOnMount": True,
                "storageCapacity": True,
                "tokenRequests": [{"audience": "x"}, {"audience": ""}, {"audience": "y"}],
                "requiresRepublish": True,
                "volumeLifecycleModes": ["Ephemeral", "Persistent"],
            },
            [False, True, True, "x,,y", True, "Ephemeral,Persistent"],
        ),
    ],
    ids=["least", "rich"],
)
def test_a_driver_row(spec, shown):
    assert csi_driver_cells({"metadata": META, "spec": spec}, NOW) == ["a", *shown, "5m"]


@pytest.mark.parametrize(
    ("spec", "is_warned"),
    [
        ({}, False),
        ({"tokenRequests": [{}]}, True),
        ({"tokenRequests": [{}], "serviceAccountTokenInSecrets": False}, False),
    ],
)
def test_a_new_driver_whose_tokens_may_end_up_in_logs(spec, is_warned):
    found = CSIDriverStrategy().warnings(None, {"spec": spec}, None)

    assert [text.split(" is ")[0] for text in found] == (["spec.serviceAccountTokenInSecrets"] if is_warned else [])
    assert CSIDriverStrategy().warnings(None, {"spec": spec}, {"spec": spec}) == []
