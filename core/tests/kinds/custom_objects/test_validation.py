"""What a schema says about a value, in Kubernetes' words."""

import pytest

from hyperkube.kinds.custom_objects.formats import fits
from hyperkube.kinds.custom_objects.validation import validate
from hyperkube.machinery.field import Path


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "string"}, 5, 'p: Invalid value: "integer": p in body must be of type string: "integer"'),
        ({"type": "string", "minLength": 2}, "a", 'p: Invalid value: "a": p in body should be at least 2 chars long'),
        ({"type": "string", "pattern": "^a"}, "b", "p: Invalid value: \"b\": p in body should match '^a'"),
        ({"type": "integer", "minimum": 1}, 0, "p: Invalid value: 0: p in body should be greater than or equal to 1"),
        ({"type": "string", "enum": ["x", "y"]}, "z", 'p: Unsupported value: "z": supported values: "x", "y"'),
        ({"type": "array", "maxItems": 1}, [1, 2], "p: Too many: 2: must have at most 1 item"),
        ({"type": "object", "required": ["a"]}, {}, "p.a: Required value"),
        ({"type": "string", "format": "uuid"}, "x", 'p: Invalid value: "x": p in body must be of type uuid: "x"'),
        ({"x-kubernetes-int-or-string": True}, 1.5, "p in body must be of type integer,string"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_value_that_does_not_fit_is_explained(schema, value, expected):
    (error,) = validate(value, schema, Path("p"))

    assert expected in str(error)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "number"}, 2),
        ({"type": "integer"}, 2.0),
        ({"type": "string", "nullable": True}, None),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, 1),
    ],
    ids=str,
)
def test_a_value_that_fits_passes(schema, value):
    assert validate(value, schema, Path("p")) == []


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("date-time", "2030-01-01T00:00:00Z", "yesterday"),
        ("ipv4", "10.0.0.1", "1.2.3"),
        ("byte", "aGk=", "!!"),
        ("duration", "1h5m", "5x"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
    ],
)
def test_formats(form, good, bad):
    assert fits(form, good)
    assert not fits(form, bad)


def test_an_unknown_format_fits_everything():
    assert fits("made-up", "x")
