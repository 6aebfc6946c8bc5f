"""Bodies are decoded with all that strict validation has to say about them."""

import pytest
from hyperkube_host.apiserver.serializer.document import as_warnings, read_json, read_yaml

from hyperkube.machinery.schema import compile_schema
from hyperkube.machinery.schema.mismatch import DecodeError, TypeMismatch

pytest.importorskip("hyperkube_api.core.v1")


@pytest.fixture
def config_map():
    return compile_schema("hyperkube_api.core.v1:ConfigMap")


def test_unknown_and_duplicate_fields_are_told_in_the_order_of_the_body(config_map):
    body = b'{"kind":"ConfigMap","metadata":{"name":"a","bogus":1},"data":{"a":"1","a":"2"},"unknown":{"x":1}}'

    obj, errors = read_json(body).decode(config_map)

    assert obj == {"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "2"}}
    assert errors == ['unknown field "metadata.bogus"', 'duplicate field "data.a"', 'unknown field "unknown"']


def test_duplicate_keys_of_yaml_come_first_and_become_warnings_of_their_own(config_map):
    _, errors = read_yaml(b"kind: ConfigMap\nfoo: bar\nfoo: baz\n").decode(config_map)

    assert errors == ['yaml: unmarshal errors:\n  line 3: key "foo" already set in map', 'unknown field "foo"']
    assert as_warnings(errors) == ['line 3: key "foo" already set in map', 'unknown field "foo"']


def test_nothing_is_searched_for_when_nobody_asks(config_map):
    assert read_json(b'{"a":1,"a":2}').decode(config_map, report=False)[1] == []


def test_the_kind_is_read_before_anything_else():
    assert read_json(b'{"apiVersion":"v1","kind":"Pod"}').kind() == ("v1", "Pod")
    assert read_json(b"null").kind() == ("", "")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            b"[]",
            r'json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }',
        ),
        (b'{"kind":5}', "json: cannot unmarshal number into Go struct field .kind of type string"),
    ],
)
def test_a_body_that_hides_its_kind_is_refused(body, text):
    with pytest.raises(TypeMismatch) as refusal:
        read_json(body).kind()

    assert str(refusal.value) == text


@pytest.mark.parametrize(
    ("document", "field"),
    [
        pytest.param(read_json(b'{"metadata": {"name": 1}, "data": {"a": 1}}'), "metadata.name", id="json as written"),
        pytest.param(read_yaml(b"metadata: {name: 1}\ndata: {a: 1}"), "ConfigMap.data", id="yaml sorted"),
    ],
)
def test_of_several_mismatches_the_first_one_counts(config_map, document, field):
    with pytest.raises(DecodeError, match=field):
        document.decode(config_map)


def test_a_duplicate_key_is_told_by_the_line_of_its_value():
    document = read_yaml(b"a:\n  b: 1\na:\n  b: 2\n")

    assert document.yaml_errors == ['yaml: unmarshal errors:\n  line 4: key "a" already set in map']
