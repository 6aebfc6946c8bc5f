"""The columns of a custom resource: what its definition declares, and the cells of its objects.

Source: kubernetes apiextensions-apiserver ``pkg/registry/customresource/tableconvertor/tableconvertor.go``.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import orjson
from hyperkube_host.apiserver.custom.json_path import find

from hyperkube.hookspecs.api import Cells, Column
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import TimeError, human_duration, parse_time

_NEVER = "0001-01-01T00:00:00Z"
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_SMALL, _LARGE = 1e-4, 1e21


def columns_of(declared: list[Object]) -> tuple[Column, ...]:
    """Return the columns of a table; without any declared, the age is shown."""
    if not declared:
        return (Column("Name", format="name"), Column("Age", "date"))
    return (
        Column("Name", format="name"),
        *(
            Column(
                column["name"],
                column["type"],
                column.get("format", ""),
                column.get("description")
                or f"Custom resource definition column (in JSONPath format): {column['jsonPath']}",
                column.get("priority", 0),
            )
            for column in declared
        ),
    )


def cells_of(declared: list[Object]) -> Cells:
    """Return what makes the row of an object."""

    def cells(obj: Object, now: datetime) -> list[Any]:
        return [obj["metadata"]["name"], *(_cell(column, obj, now) for column in declared)]

    return cells


def _cell(column: Object, obj: Object, now: datetime) -> Any:
    """Return the first value at the column's path if it has its type; a column of texts shows any."""
    found = find(obj, column["jsonPath"])
    if not found:
        return None
    value, kind = found[0], column["type"]
    if kind == "string":
        return _text(value)
    if kind == "date":
        return _age(value, now) if isinstance(value, str) else None
    if isinstance(value, bool):
        return value if kind == "boolean" else None
    if not isinstance(value, int | float):
        return None
    if kind == "integer":
        return int(value)
    return value if kind == "number" else None


def _age(moment: str, now: datetime) -> str:
    if moment in {"", "null", _NEVER}:
        return "<unknown>"
    try:
        return human_duration(now - parse_time(moment))
    except TimeError:
        return "<invalid>"


def _text(value: Any) -> str:
    """Return a value as Go prints it; lists and objects as JSON."""
    if value is None:
        return "<no value>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
        return "".join(_ESCAPED.get(char, char) for char in text)
    if isinstance(value, float) and (value == 0 or _SMALL <= abs(value) < _LARGE):
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    return str(value)
