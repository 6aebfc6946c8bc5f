"""The cells of custom objects, by the types of their columns."""

from datetime import UTC, datetime

import pytest
from hyperkube_host.apiserver.custom.columns import cells_of

NOW = datetime(2026, 1, 2, 12, 30, tzinfo=UTC)


def cell(kind, value):
    obj = {"metadata": {"name": "a"}, "value": value}
    name, shown = cells_of([{"name": "Value", "type": kind, "jsonPath": ".value"}])(obj, NOW)
    assert name == "a"
    return shown


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("integer", 42, 42),
        ("integer", 3.14, 3),
        ("integer", True, None),
        ("integer", "foo", None),
        ("integer", [1], None),
        ("number", 42, 42),
        ("number", 3.14, 3.14),
        ("number", True, None),
        ("number", "foo", None),
        ("boolean", 42, None),
        ("boolean", True, True),
        ("boolean", "foo", None),
        ("string", "foo", "foo"),
        ("string", 42, "42"),
        ("string", True, "true"),
        ("string", 1.0, "1"),
        ("string", 2.5e10, "25000000000"),
        ("string", 1e21, "1e+21"),
        ("string", 0.00001, "1e-05"),
        ("string", None, "<no value>"),
        ("string", ["foo", "<b>"], '["foo","\\u003cb\\u003e"]'),
        ("string", {"b": 1, "a": [2, 3]}, '{"a":[2,3],"b":1}'),
        ("date", 42, None),
        ("date", True, None),
        ("date", "2026-01-02T00:00:00Z", "12h"),
        ("date", "2026-01-03T00:00:00Z", "<invalid>"),
        ("date", "yesterday", "<invalid>"),
        ("date", "", "<unknown>"),
        ("unknown", "foo", None),
        ("unknown", 1, None),
    ],
)
def test_a_cell_has_the_type_of_its_column(kind, value, expected):
    shown = cell(kind, value)
    assert (shown, type(shown)) == (expected, type(expected))


@pytest.mark.parametrize("kind", ["string", "integer", "number", "boolean", "date"])
def test_what_is_not_there_shows_nothing(kind):
    assert cells_of([{"name": "X", "type": kind, "jsonPath": ".x"}])({"metadata": {"name": "a"}}, NOW) == ["a", None]


def test_only_the_first_of_several_values_is_shown():
    columns = [{"name": "X", "type": "string", "jsonPath": ".list[*].x"}]
    obj = {"metadata": {"name": "a"}, "list": [{"x": "one"}, {"x": "two"}]}
    assert cells_of(columns)(obj, NOW) == ["a", "one"]
