"""What the cells of many kinds share: ages first of all."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.meta import cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, "<unknown>"),
        ("", "<unknown>"),
        ("2026-01-01T12:00:01Z", "0s"),
        ("2026-01-01T12:00:02Z", "<invalid>"),
        ("2026-01-01T12:00:00Z", "0s"),
        ("2026-01-01T11:58:01Z", "119s"),
        ("2026-01-01T11:58:00Z", "2m"),
        ("2026-01-01T11:50:01Z", "9m59s"),
        ("2026-01-01T11:50:00Z", "10m"),
        ("2026-01-01T09:00:01Z", "179m"),
        ("2026-01-01T09:00:00Z", "3h"),
        ("2026-01-01T04:30:00Z", "7h30m"),
        ("2026-01-01T04:00:00Z", "8h"),
        ("2025-12-30T13:00:00Z", "47h"),
        ("2025-12-30T12:00:00Z", "2d"),
        ("2025-12-30T09:00:00Z", "2d3h"),
        ("2025-12-24T12:00:00Z", "8d"),
        ("2024-01-03T12:00:00Z", "729d"),
        ("2024-01-02T12:00:00Z", "2y"),
        ("2023-12-31T12:00:00Z", "2y2d"),
        ("2018-01-03T12:00:00Z", "8y"),
        ("1996-01-01T12:00:00Z", "30y"),
        ("2026-01-01T11:55:00.500000Z", "4m59s"),
        ("2026-01-01T13:00:00+01:00", "0s"),
    ],
)
def test_an_age_has_two_figures_at_most(text, shown):
    assert cells.since(text, NOW) == shown


@pytest.mark.parametrize(
    ("labels", "shown"), [(None, "<none>"), ({}, "<none>"), ({"b": "2", "a": "1"}, "a=1,b=2"), ({"a": ""}, "a=")]
)
def test_labels_read_like_a_selector(labels, shown):
    assert cells.labels(labels) == shown
