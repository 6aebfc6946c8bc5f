"""The table of endpoints."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.core.endpoints.table import endpoints_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


def addresses(*texts):
    return [{"ip": text} for text in texts]


@pytest.mark.parametrize(
    ("subsets", "shown"),
    [
        (None, "<none>"),
        ([{"ports": [{"port": 80}]}], ""),
        ([{"notReadyAddresses": addresses("1.2.3.4"), "ports": [{"port": 80}]}], ""),
        ([{"addresses": addresses("1.2.3.4", "fd00::1")}], "1.2.3.4,fd00::1"),
        ([{"addresses": addresses("1.2.3.4", "fd00::1"), "ports": [{"port": 80}]}], "1.2.3.4:80,[fd00::1]:80"),
        (
            [{"addresses": addresses("1.1.1.1", "1.1.1.2"), "ports": [{"port": 80}, {"port": 53}]}],
            "1.1.1.1:80,1.1.1.2:80,1.1.1.1:53 + 1 more...",
        ),
        (
            [{"addresses": addresses("1.1.1.1", "1.1.1.2")}, {"addresses": addresses("1.1.1.3", "1.1.1.4")}],
            "1.1.1.1,1.1.1.2,1.1.1.3 + 1 more...",
        ),
    ],
    ids=["none", "no-address", "not-ready", "portless", "ports", "many", "subsets"],
)
def test_an_endpoints_row_shows_the_first_addresses(subsets, shown):
    assert endpoints_cells({"metadata": META, "subsets": subsets}, NOW) == ["a", shown, "5m"]
