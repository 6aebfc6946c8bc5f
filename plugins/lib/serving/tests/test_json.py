"""JSON is read as Go reads it, and refused in Go's words."""

import pytest
from hyperkube_lib.serving import json


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("", "unexpected end of JSON input"),
        ("{", "unexpected end of JSON input"),
        ("\ufeff{}", "invalid character 'ï' looking for beginning of value"),
        ("[] x", "invalid character 'x' after top-level value"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":tru}', "invalid character '}' in literal true (expecting 'e')"),
        ('{"a":1.}', "invalid character '}' after decimal point in numeric literal"),
        ('{"a":1e}', "invalid character '}' in exponent of numeric literal"),
        ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ('"\\x"', "invalid character 'x' in string escape code"),
        ('"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
        ('"\n"', "invalid character '\\n' in string literal"),
        ("kind: x", "invalid character 'k' looking for beginning of value"),
        ("NaN", "invalid character 'N' looking for beginning of value"),
    ],
)
def test_syntax_errors_are_those_of_go(body, text):
    with pytest.raises(json.JsonError) as refusal:
        json.loads(body.encode())

    assert str(refusal.value) == text


@pytest.mark.parametrize("body", ['"\\ud800"', b'"\xff"'], ids=["lone surrogate", "broken utf-8"])
def test_broken_unicode_is_replaced(body):
    assert json.loads(body if isinstance(body, bytes) else body.encode()) == "\ufffd"


def test_escaped_pairs_of_surrogates_are_one_character():
    assert json.loads(b'["\\ud83d\\ude00", "\\ud800"]') == ["😀", "\ufffd"]


def test_duplicates_are_found_with_their_paths():
    body = b'{"spec": {"a": "x", "a": "y", "l": [{"b": 1}, {"b": 1, "b": 2}]}, "spec": 1}'

    assert json.may_have_duplicates(body, json.loads(body))
    assert json.duplicate_fields(body) == [
        'duplicate field "spec.a"',
        'duplicate field "spec.l[1].b"',
        'duplicate field "spec"',
    ]


@pytest.mark.parametrize("body", [b'{"a": "\\"x\\"", "b": ["c"]}', b"{}", b'[1, "\xc3\xbc"]'])
def test_a_body_without_duplicates_needs_no_search(body):
    assert not json.may_have_duplicates(body, json.loads(body))


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"", "<empty>"),
        (b"{", "{"),
        (b"[]", "5b5d"),
        (b'{"apiVersion":"a/b/c","kind":"ConfigMap"}', '{"apiVersion":"a/b/c","kind":" ...'),
    ],
)
def test_bodies_are_summed_up_as_kubernetes_does(body, shown):
    assert json.summary(body) == shown


def test_pretty_json_is_indented_by_two_and_ends_with_a_new_line():
    assert json.dumps({"a": {"b": []}}, pretty=True) == b'{\n  "a": {\n    "b": []\n  }\n}\n'


@pytest.mark.parametrize("depth", [300, 900, 3000, 11000])
def test_a_bottomless_document_is_refused_and_ends_nothing(depth):
    with pytest.raises(json.JsonError, match="exceeded max depth"):
        json.loads(b'{"a":' * depth + b"1" + b"}" * depth)
