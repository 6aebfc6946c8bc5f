"""The table rows of signing requests."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.certificates.table import certificate_signing_request_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:30Z"}


@pytest.mark.parametrize(
    ("types", "certificate", "shown"),
    [
        ([], "", "Pending"),
        (["Approved"], "", "Approved"),
        (["Denied"], "", "Denied"),
        (["Approved", "Denied"], "", "Denied"),
        (["Failed"], "", "Pending,Failed"),
        (["Approved", "Failed"], "", "Approved,Failed"),
        (["Approved"], "Zm9v", "Approved,Issued"),
        (["Denied", "Failed"], "Zm9v", "Denied,Failed,Issued"),
        ([], "Zm9v", "Pending,Issued"),
    ],
)
def test_a_row_shows_what_came_of_a_request(types, certificate, shown):
    status = {"conditions": [{"type": kind} for kind in types], "certificate": certificate}

    assert certificate_signing_request_cells({"metadata": META, "status": status}, NOW)[5] == shown


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({}, ["<none>", "", "<none>"]),
        ({"signerName": "e.com/s", "username": "u", "expirationSeconds": 3600}, ["e.com/s", "u", "60m"]),
        ({"signerName": "e.com/s", "username": "u", "expirationSeconds": 86400 * 368}, ["e.com/s", "u", "368d"]),
    ],
    ids=["least", "hour", "year"],
)
def test_a_row_shows_who_asks_whom_for_how_long(spec, shown):
    assert certificate_signing_request_cells({"metadata": META, "spec": spec}, NOW)[:5] == ["a", "4m30s", *shown]
