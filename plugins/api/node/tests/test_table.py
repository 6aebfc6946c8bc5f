"""The table rows of runtime classes."""

from datetime import UTC, datetime

from hyperkube_api.node.table import runtime_class_cells


def test_a_row_shows_the_handler():
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)

    assert runtime_class_cells({"metadata": {"name": "a"}, "handler": "h"}, now) == ["a", "h", "<unknown>"]
