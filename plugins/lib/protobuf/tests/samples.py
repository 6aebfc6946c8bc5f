"""Arbitrary but repeatable objects of any schema, for round trips."""

import base64
import random

from hyperkube.machinery.schema.fields import Inline, List, Map, Struct

_SCALARS = {
    "string": lambda r: r.choice(["", "a", "ü€", "x" * 200]),
    "bool": lambda r: r.random() < 0.5,
    "int32": lambda r: r.choice([0, 1, -1, 2**31 - 1, -(2**31)]),
    "int64": lambda r: r.choice([0, 1, -1, 2**63 - 1, -(2**63)]),
    "float64": lambda r: r.choice([0, 1, 1.5, -2.25]),
    "bytes": lambda r: base64.b64encode(bytes(range(r.randrange(5)))).decode(),
    "quantity": lambda r: r.choice(["0", "100m", "1Gi", "5"]),
    "int_or_string": lambda r: r.choice([0, 80, -1, "http", "25%"]),
    "time": lambda r: r.choice(["1970-01-01T00:00:00Z", "2024-01-02T03:04:05Z", "1912-06-23T00:00:00Z"]),
    "micro_time": lambda r: r.choice(["2024-01-02T03:04:05.123456Z", "1969-12-31T23:59:59.500000Z"]),
    "duration": lambda r: r.choice(["0s", "1m30s", "1.5s"]),
    "raw": lambda r: r.choice([{"a": [1, "b", None]}, {}]),
    "fields_v1": lambda r: {"f:metadata": {".": {}}},
    "json": lambda r: r.choice([{"a": 1}, [1], "x", 5, False]),
    "any": lambda r: r.choice([1, "x"]),
}


def sample(schema, seed, depth=4):
    """Return an object of a schema; the same for the same seed."""
    return _struct(schema, random.Random(seed), depth)


def _struct(schema, r, depth):
    if schema.shape:
        target = next(field for field in schema.declared().values() if isinstance(field, Struct)).schema()
        return _struct(target, r, depth - 1)
    out = {}
    for field in schema.declared().values():
        if isinstance(field, Inline):
            out |= _struct(field.schema(), r, depth)
        elif not field.hidden and field.number and r.random() < 0.7:
            out[field.json_name] = _value(field, r, depth)
    return out


def _value(field, r, depth):
    if isinstance(field, Struct):
        return _struct(field.schema(), r, depth - 1) if depth > 0 else {}
    if isinstance(field, List):
        return [_value(field.items, r, depth - 1) for _ in range(r.randrange(3))] if depth > 0 else []
    if isinstance(field, Map):
        return {key: _value(field.items, r, depth - 1) for key in r.sample("abcd", r.randrange(3))} if depth > 0 else {}
    return _SCALARS[field.scalar](r)
