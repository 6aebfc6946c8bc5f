"""The table rows of Ingresses."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.networking.ingresses.table import ingress_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2016-01-01T12:00:00Z"}


def rules(*hosts):
    return [{"host": host} if host else {} for host in hosts]


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({}, ["<none>", "*", "", "80"]),
        ({"ingressClassName": "c", "rules": rules("x.com"), "tls": [{}]}, ["c", "x.com", "", "80, 443"]),
        ({"rules": rules("", "")}, ["<none>", "*", "", "80"]),
        ({"rules": rules("a", "", "b", "c")}, ["<none>", "a,b,c", "", "80"]),
        ({"rules": rules("a", "b", "c", "d", "e")}, ["<none>", "a,b,c + 2 more...", "", "80"]),
        ({"rules": rules("a", "b", "c", "")}, ["<none>", "a,b,c + 1 more...", "", "80"]),
    ],
    ids=["least", "rich", "any-host", "some-hosts", "many", "one-more"],
)
def test_an_ingress_row(spec, shown):
    assert ingress_cells({"metadata": META, "spec": spec}, NOW) == ["a", *shown, "10y"]


def test_an_ingress_row_shows_all_addresses():
    found = [{"ip": "2.3.4.5"}, {"hostname": "localhost.localdomain"}, {"ip": "2.3.4.4"}, {"ip": "2.3.4.5"}]
    obj = {"metadata": META, "status": {"loadBalancer": {"ingress": found}}}

    assert ingress_cells(obj, NOW)[3] == "2.3.4.4,2.3.4.5,localhost.localdomain"
