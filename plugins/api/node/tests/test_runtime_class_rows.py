"""The rows of runtime classes in tables."""

from datetime import UTC, datetime

from hyperkube_api.node.tables import runtime_class


def test_a_row_shows_the_handler():
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)

    assert runtime_class({"metadata": {"name": "a"}, "handler": "h"}, now) == ["a", "h", "<unknown>"]
