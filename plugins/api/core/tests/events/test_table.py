"""The table of events."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.core.events.table import event_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        ({}, ["<unknown>", "<unknown>", 1]),
        ({"firstTimestamp": "2026-01-01T11:00:00Z", "lastTimestamp": "2026-01-01T11:50:00Z", "count": 6},
         ["10m", "60m", 6]),
        ({"firstTimestamp": "2026-01-01T11:00:00Z"}, ["60m", "60m", 1]),
        ({"eventTime": "2026-01-01T11:50:00.000000Z"}, ["10m", "10m", 1]),
        ({"eventTime": "2026-01-01T11:00:00.000000Z",
          "series": {"count": 1, "lastObservedTime": "2026-01-01T11:50:00.000000Z"}}, ["10m", "60m", 1]),
        ({"eventTime": "2026-01-01T11:00:00.000000Z", "deprecatedCount": 3,
          "deprecatedLastTimestamp": "2026-01-01T11:59:00Z"}, ["60s", "60m", 3]),
    ],
)  # fmt: skip
def test_an_event_row_shows_when_it_was_seen(event, shown):
    row = event_cells({"metadata": META, **event}, NOW)

    assert [row[0], row[7], row[8]] == shown


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        ({}, ""),
        ({"source": {"component": "kubelet"}}, "kubelet"),
        ({"source": {"component": "kubelet", "host": "n"}}, "kubelet, n"),
        ({"reportingComponent": "c", "reportingInstance": "i"}, "c, i"),
        ({"source": {"component": "kubelet"}, "reportingComponent": "c", "reportingInstance": "i"}, "kubelet, i"),
        ({"deprecatedSource": {"component": "kubelet", "host": "n"}, "reportingController": "c"}, "kubelet, n"),
    ],
)
def test_an_event_row_shows_who_reported_it(event, shown):
    assert event_cells({"metadata": META, **event}, NOW)[5] == shown


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        ({"involvedObject": {"kind": "Pod"}, "message": "  m\n"}, ["pod", "", "m"]),
        ({"involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.containers{c}"}, "message": "m"},
         ["pod/p", "spec.containers{c}", "m"]),
        ({"regarding": {"kind": "ReplicaSet", "name": "r"}, "note": "n"}, ["replicaset/r", "", "n"]),
    ],
)  # fmt: skip
def test_an_event_row_shows_what_happened_to_what(event, shown):
    row = event_cells({"metadata": META, **event}, NOW)

    assert [row[3], row[4], row[6]] == shown
