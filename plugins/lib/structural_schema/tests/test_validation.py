"""What a schema says about a value, in Kubernetes' words."""

import pytest
from hyperkube_lib.structural_schema.formats import fits, is_known
from hyperkube_lib.structural_schema.validation import validate

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
        ("datetime", "2030-01-01T00:00:00Z", "2030"),
        ("date", "2030-01-31", "2030-13-01"),
        ("ipv6", "::1", "1.2.3.4"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
        ("uuid3", "123e4567-e89b-32d3-0456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ("uuid4", "123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-42d3-c456-426614174000"),
        ("uuid5", "123e4567e89b52d3a456426614174000", "123e4567-e89b-42d3-a456-426614174000"),
        ("bsonobjectid", "507f1f77bcf86cd799439011", "507f"),
        ("isbn", "0321751043", "0321751044"),
        ("isbn10", "0-321-75104-3", "978-0321751041"),
        ("isbn13", "978-0321751041", "978-0321751042"),
        ("creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"),
        ("ssn", "111-22-3333", "111-22-333"),
        ("hexcolor", "#FFFFFF", "#FFFF"),
        ("rgbcolor", "rgb(0, 10, 255)", "rgb(0, 10, 256)"),
        ("quantity", "10Gi", "ten"),
        ("email", "a@example.com", "a"),
        ("hostname", "a.example.com", "-"),
        ("uri", "https://a/b", "a"),
        ("mac", "01:02:03:04:05:06", "01:02"),
        ("k8s-short-name", "a-b", "A"),
        ("k8s-long-name", "a.b", "a_b"),
    ],
)
def test_formats(form, good, bad):
    assert fits(form, good)
    assert not fits(form, bad)


def test_an_unknown_format_fits_everything():
    assert fits("made-up", "x")


@pytest.mark.parametrize(
    ("form", "kind", "known"),
    [
        ("date-time", "string", True),
        ("datetime", "", True),
        ("made-up", "string", False),
        ("int32", "integer", True),
        ("int32", "number", False),
        ("double", "number", True),
        ("cidr", "array", False),
    ],
)
def test_a_format_is_known_for_a_type(form, kind, known):
    assert is_known(form, kind) is known


def test_a_format_of_text_is_not_asked_of_numbers():
    assert validate(5, {"type": "integer", "format": "uuid"}, Path("p")) == []


@pytest.mark.parametrize("number", [1e30, 2.0**53, 2**63, -(2**63) - 1, 0.5], ids=str)
def test_a_number_that_go_reads_as_a_float_is_no_integer(number):
    errors = validate(number, {"type": "integer"}, Path("p"))

    assert [str(error) for error in errors] == [
        'p: Invalid value: "number": p in body must be of type integer: "number"'
    ]
    assert validate(number, {"type": "number"}, Path("p")) == []


@pytest.mark.parametrize("number", [2.0**53 - 1, -5.0, 2**63 - 1, -(2**63)], ids=str)
def test_a_whole_number_is_an_integer(number):
    assert validate(number, {"type": "integer"}, Path("p")) == []


CHECKED = '<nil>: Invalid value: "": Checked value must be of type {} with format {} in p'


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (
            {"type": "integer", "format": "int32"},
            1.5,
            [
                'p: Invalid value: "float64": p in body must be of type int32: "float64"',
                CHECKED.format("integer", "int32"),
            ],
        ),
        (
            {"type": "integer", "format": "int64"},
            2**63,
            [
                'p: Invalid value: "float64": p in body must be of type int64: "float64"',
                CHECKED.format("integer", "int64"),
            ],
        ),
        ({"type": "integer", "format": "int32"}, 2**31, [CHECKED.format("integer", "int32")]),
        ({"type": "number", "format": "float"}, 1e39, [CHECKED.format("number", "float")]),
        ({"type": "number", "format": "float"}, 1.5, []),
        (
            {"type": "string", "allOf": [{"pattern": "^a"}, {"maxLength": 3}]},
            "bbbb",
            [
                "p: Invalid value: \"bbbb\": p in body should match '^a'",
                "p: Too long: may not be more than 3 bytes",
                '<nil>: Invalid value: "": "p" must validate all the schemas (allOf)',
            ],
        ),
    ],
    ids=["fraction", "beyond int64", "beyond int32", "beyond float", "float", "allOf"],
)
def test_numbers_of_formats_and_combinations_are_told_in_full(schema, value, expected):
    assert [str(error) for error in validate(value, schema, Path("p"))] == expected


@pytest.mark.parametrize(
    ("value", "fit"),
    [
        ("a", True),
        ("a.bc", True),
        ("x-1.example.com", True),
        ("a.b", False),
        ("A.B", False),
        ("x" * 64, False),
        ("-a", False),
    ],
)
def test_a_hostname_ends_with_two_letters_and_has_short_labels(value, fit):
    assert fits("hostname", value) is fit
