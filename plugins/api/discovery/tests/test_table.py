"""The table rows of endpoint slices."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.discovery.table import endpoint_slice_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ports", "addresses", "shown"),
    [
        (None, [], ["<unset>", "<unset>"]),
        ([{"name": "http", "port": 80}], [["10.1.2.3", "2001:db8::1"]], ["80", "10.1.2.3,2001:db8::1"]),
        ([{"name": "http"}], [["a"], ["b"]], ["http", "a,b"]),
        ([{}], [["a"]], ["*", "a"]),
        ([{"name": ""}], [["a"]], ["<unset>", "a"]),
        (
            [{"port": number} for number in (1, 2, 3, 4, 5)],
            [["a", "b"], ["c", "d"]],
            ["1,2,3 + 2 more...", "a,b,c + 1 more..."],
        ),
    ],
    ids=["empty", "numbers", "names", "any-port", "default-name", "many"],
)
def test_a_row_shows_the_first_ports_and_addresses(ports, addresses, shown):
    endpoints = [{"addresses": some} for some in addresses]
    obj = {"metadata": {"name": "a"}, "addressType": "IPv4", "ports": ports, "endpoints": endpoints}

    assert endpoint_slice_cells(obj, NOW) == ["a", "IPv4", *shown, "<unknown>"]
