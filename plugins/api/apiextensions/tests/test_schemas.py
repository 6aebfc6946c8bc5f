"""Every rule that a schema of a definition may break, with the texts of Kubernetes; the schema is at ``s``."""

import pytest
from hyperkube_api.apiextensions.validation.openapi import Options
from hyperkube_api.apiextensions.validation.schemas import SchemaOptions, validate_schema

from hyperkube.machinery.field import Path

INT, STR, OBJ = {"type": "integer"}, {"type": "string"}, {"type": "object"}
EMPTY, UNDEFINED, FALSE = (f"must be {word} to be structural" for word in ("empty", "undefined", "false"))
IOS, PRESERVE, EMBEDDED = (
    f"x-kubernetes-{name}" for name in ("int-or-string", "preserve-unknown-fields", "embedded-resource")
)
LIST, KEYS, MAP = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"


def of(**properties):
    return {**OBJ, "properties": properties}


def a(schema, **more):
    return {**OBJ, "properties": {"a": schema}, **more}


def errors(schema, *, status=False, options=None):
    return [str(one) for one in validate_schema(Path("s"), schema, options or SchemaOptions(), status=status)]


A = "s.properties[a]"

GOOD = {
    "empty object": OBJ,
    "all types": of(
        a=INT, b=STR, c={"type": "number"}, d={"type": "boolean"}, e={"type": "array", "items": INT}, f=OBJ
    ),
    "no type where unknown fields stay": a({PRESERVE: True}),
    "int or string": a({IOS: True}),
    "int or string, told by anyOf": a({IOS: True, "anyOf": [INT, STR]}),
    "int or string, told by allOf": a({IOS: True, "allOf": [{"anyOf": [INT, STR]}, {"pattern": "^a"}]}),
    "a map": a({**OBJ, "additionalProperties": STR}),
    "a map of anything": a({**OBJ, "additionalProperties": True}),
    "properties beside additionalProperties true": a({**of(x=STR), "additionalProperties": True}),
    "no additional properties": a({**OBJ, "additionalProperties": False}),
    "the name of the metadata": of(metadata={**OBJ, "properties": {"name": {**STR, "pattern": "^a"}}}),
    "both names of the metadata": of(metadata=of(name=STR, generateName=STR)),
    "apiVersion and kind": of(apiVersion=STR, kind=STR, metadata=OBJ),
    "junctors that only restrict": a(
        {
            **STR,
            "allOf": [{"minLength": 1}],
            "anyOf": [{"pattern": "^a"}],
            "oneOf": [{"maxLength": 2}],
            "not": {"enum": ["x"]},
        }
    ),
    "restrictions of declared properties": a(
        {**of(b=STR), "anyOf": [{"required": ["b"]}, {"properties": {"b": {"minLength": 1}}}]}
    ),
    "an embedded object": a({**OBJ, EMBEDDED: True, PRESERVE: True}),
    "an embedded object with a schema": a({**of(spec=OBJ), EMBEDDED: True}),
    "a set": a({"type": "array", LIST: "set", "items": STR}),
    "a set of atomic maps": a({"type": "array", LIST: "set", "items": {**OBJ, MAP: "atomic"}}),
    "a set of atomic lists": a({"type": "array", LIST: "set", "items": {"type": "array", "items": INT}}),
    "a list that is a map": a({"type": "array", LIST: "map", KEYS: ["k"], "items": {**of(k=STR), "required": ["k"]}}),
    "a key with a default": a({"type": "array", LIST: "map", KEYS: ["k"], "items": of(k={**STR, "default": "x"})}),
    "a granular map": a({**OBJ, MAP: "granular"}),
    "a default": a({**STR, "default": "x"}),
    "a default of null": a({**STR, "nullable": True, "default": None}),
    "a default of an object": a({**of(b=INT), "default": {"b": 1}}),
    "a default of an object with an own default": a({**of(b={**INT, "default": 2}), "default": {}}),
    "a default of anything": a({PRESERVE: True, "default": {"x": {"y": [1]}}}),
    "a default of an embedded object": a(
        {
            **OBJ,
            EMBEDDED: True,
            PRESERVE: True,
            "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}},
        }
    ),
    "a default within embedded metadata": a(
        {EMBEDDED: True, **of(metadata=of(labels={**OBJ, "additionalProperties": STR, "default": {"a": "b"}}))}
    ),
    "a format that is not known": a({**STR, "format": "made-up"}),
    "an example": a({**STR, "example": "x", "externalDocs": {"url": "u"}}),
    "a nullable property": a({**STR, "nullable": True}),
    "metadata deeper down": a(of(metadata={**STR, "description": "just a word"})),
}


@pytest.mark.parametrize("schema", [pytest.param(schema, id=name) for name, schema in GOOD.items()])
def test_a_schema_may_say(schema):
    assert errors(schema) == []


BAD = [
    # The root.
    ({}, ["s.type: Required value: must not be empty at the root"]),
    ({"type": "array", "items": INT}, ['s.type: Invalid value: "array": must be object at the root']),
    ({**OBJ, "nullable": True}, ["s.nullable: Forbidden: nullable cannot be true at the root"]),
    ({**OBJ, "additionalProperties": STR}, ["s.additionalProperties: Forbidden: must not be used at the root"]),
    ({**OBJ, "additionalProperties": False}, ["s.additionalProperties: Forbidden: must not be used at the root"]),
    # Types.
    (a({}), [f"{A}.type: Required value: must not be empty for specified object fields"]),
    (a({"type": "array"}), [f"{A}.items: Required value: must be specified"]),
    (
        a({"type": "array", "items": {}}),
        [f"{A}.items.type: Required value: must not be empty for specified array items"],
    ),
    (
        a({**OBJ, "additionalProperties": {}}),
        [f"{A}.additionalProperties.type: Required value: must not be empty for specified object fields"],
    ),
    (
        a({"type": "bogus"}),
        [
            (
                f'{A}.type: Unsupported value: "bogus": supported values: "array", "boolean", "integer", "number", "object", '
                '"string"'
            )
        ],
    ),
    (
        a({"type": "null"}),
        [
            (
                f'{A}.type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", '
                '"string"'
            ),
            f"{A}.type: Forbidden: type cannot be set to null, use nullable as an alternative",
        ],
    ),
    # The members every object has.
    (of(kind=INT), ['s.properties[kind].type: Invalid value: "integer": must be string']),
    (of(apiVersion=OBJ), ['s.properties[apiVersion].type: Invalid value: "object": must be string']),
    (of(metadata=STR), ['s.properties[metadata].type: Invalid value: "string": must be object']),
    (
        of(metadata=of(labels={**OBJ, "additionalProperties": STR})),
        [
            (
                "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata "
                "is implicitly specified"
            )
        ],
    ),
    (
        of(metadata={**OBJ, PRESERVE: True}),
        [
            (
                "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata "
                "is implicitly specified"
            )
        ],
    ),
    (
        of(metadata={**OBJ, "required": ["name"]}),
        [
            (
                "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata "
                "is implicitly specified"
            )
        ],
    ),
    (a({EMBEDDED: True, **of(kind=INT)}), [f'{A}.properties[kind].type: Invalid value: "integer": must be string']),
    # What is not supported.
    (a({**STR, "id": "x"}), [f"{A}.id: Forbidden: id is not supported"]),
    (a({**STR, "$ref": "x"}), [f"{A}.$ref: Forbidden: $ref is not supported"]),
    (a({**STR, "$schema": "x"}), ["s: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"]),
    (
        a({**OBJ, "patternProperties": {"x": STR}}),
        [f"{A}.patternProperties: Forbidden: patternProperties is not supported"],
    ),
    (a({**OBJ, "definitions": {"x": STR}}), [f"{A}.definitions: Forbidden: definitions is not supported"]),
    (a({**OBJ, "dependencies": {"x": ["y"]}}), [f"{A}.dependencies: Forbidden: dependencies is not supported"]),
    (
        a({"type": "array", "items": INT, "additionalItems": False}),
        [f"{A}.additionalItems: Forbidden: additionalItems is not supported"],
    ),
    (
        a({"type": "array", "items": [INT, STR]}),
        [f"{A}.items: Forbidden: items must be a schema object and not an array"],
    ),
    (
        a({"type": "array", "items": INT, "uniqueItems": True}),
        [
            f"{A}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        ],
    ),
    (
        a({**of(b=INT), "additionalProperties": STR}),
        [f"{A}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"],
    ),
    (
        a({**of(b=INT), "additionalProperties": False}),
        [f"{A}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"],
    ),
    (
        a({**STR, "pattern": "(a"}),
        [
            (
                f'{A}.pattern: Invalid value: "(a": must be a valid regular expression, but isn\'t: error parsing regexp: '
                "missing closing ): `(a`"
            )
        ],
    ),
    (
        a({**STR, "anyOf": [{"pattern": "+"}]}),
        [
            (
                f'{A}.anyOf[0].pattern: Invalid value: "+": must be a valid regular expression, but isn\'t: error parsing '
                "regexp: missing argument to repetition operator: `+`"
            )
        ],
    ),
    # Extensions.
    (a({PRESERVE: False}), [f"{A}.{PRESERVE}: Invalid value: false: must be true or undefined"]),
    (
        a({IOS: True, PRESERVE: True}),
        [f"{A}.{PRESERVE}: Invalid value: true: must be false if {IOS} is true"],
    ),
    (
        a({IOS: True, EMBEDDED: True, PRESERVE: True, **OBJ}),
        [
            f"{A}.{EMBEDDED}: Invalid value: true: must be false if {IOS} is true",
            f"{A}.{PRESERVE}: Invalid value: true: must be false if {IOS} is true",
        ],
    ),
    (a({EMBEDDED: True, PRESERVE: True}), [f"{A}.type: Required value: must be object if {EMBEDDED} is true"]),
    (
        a({EMBEDDED: True, PRESERVE: True, **STR}),
        [f'{A}.type: Invalid value: "string": must be object if {EMBEDDED} is true'],
    ),
    (
        a({EMBEDDED: True, **OBJ}),
        [f"{A}.properties: Required value: must not be empty if {EMBEDDED} is true without {PRESERVE}"],
    ),
    (
        a({EMBEDDED: True, PRESERVE: True, **OBJ, "additionalProperties": True}),
        [f"{A}.additionalProperties: Forbidden: must not be used if {EMBEDDED} is set"],
    ),
    (
        a({EMBEDDED: True, **of(metadata={**of(a=STR), EMBEDDED: True})}),
        [f"{A}.properties[metadata].{EMBEDDED}: Forbidden: must not be used inside of resource meta"],
    ),
    # Junctors only restrict.
    *(
        (a({**OBJ, "not": {member: value}}), [f"{A}.not.{member}: Forbidden: {text}"])
        for member, value, text in (
            ("type", "object", EMPTY),
            ("title", "x", EMPTY),
            ("description", "x", EMPTY),
            ("default", {}, UNDEFINED),
            ("additionalProperties", True, UNDEFINED),
            ("nullable", True, FALSE),
            (PRESERVE, True, FALSE),
            (EMBEDDED, True, FALSE),
            (IOS, True, FALSE),
        )
    ),
    *(
        (a({**INT, junctor: [{"type": "integer"}]}), [f"{A}.{junctor}[0].type: Forbidden: {EMPTY}"])
        for junctor in ("allOf", "anyOf", "oneOf")
    ),
    (
        a({IOS: True, "anyOf": [STR, INT]}),
        [f"{A}.anyOf[0].type: Forbidden: {EMPTY}", f"{A}.anyOf[1].type: Forbidden: {EMPTY}"],
    ),
    (
        a({IOS: True, "allOf": [{"pattern": "a"}, {"anyOf": [INT, STR]}]}),
        [f"{A}.allOf[1].anyOf[0].type: Forbidden: {EMPTY}", f"{A}.allOf[1].anyOf[1].type: Forbidden: {EMPTY}"],
    ),
    (
        a({IOS: True, "oneOf": [INT, STR]}),
        [f"{A}.oneOf[0].type: Forbidden: {EMPTY}", f"{A}.oneOf[1].type: Forbidden: {EMPTY}"],
    ),
    (
        a({"type": "array", "items": STR, "not": {LIST: "set"}}),
        [
            f"{A}.not.{LIST}: Forbidden: {UNDEFINED}",
            f"{A}.not.type: Required value: must be array if {LIST} is specified",
        ],
    ),
    (
        a({**OBJ, "not": {MAP: "atomic"}}),
        [
            f"{A}.not.{MAP}: Forbidden: {UNDEFINED}",
            f"{A}.not.type: Required value: must be object if {MAP} is specified",
        ],
    ),
    (
        a({**STR, "anyOf": [{"x-kubernetes-validations": [{"rule": "true"}]}]}),
        [f"{A}.anyOf[0].x-kubernetes-validations: Forbidden: {EMPTY}"],
    ),
    (
        a({**of(metadata=OBJ), "allOf": [{"properties": {"metadata": {"maxProperties": 1}}}]}),
        [f"{A}.allOf[0].properties[metadata]: Forbidden: must not be specified in a nested context"],
    ),
    (
        a({"type": "array", "items": of(b=STR), "anyOf": [{"items": {"properties": {"b": STR}}}]}),
        [f"{A}.anyOf[0].items.properties[b].type: Forbidden: {EMPTY}"],
    ),
]


@pytest.mark.parametrize(("schema", "expected"), BAD, ids=lambda value: str(value)[-60:])
def test_a_schema_may_not_say(schema, expected):
    found = errors(schema)

    assert len(found) == len(expected), found
    for line, text in zip(found, expected, strict=True):
        assert line.startswith(text)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            a(OBJ, anyOf=[{"properties": {"c": {"minLength": 1}}}]),
            "s.properties[c]: Required value: because it is defined in s.anyOf[0].properties[c]",
        ),
        (
            a(OBJ, allOf=[{"properties": {"a": {"not": {"properties": {"d": {}}}}}}]),
            f"{A}.properties[d]: Required value: because it is defined in s.allOf[0].properties[a].not.properties[d]",
        ),
        (
            a(STR, oneOf=[{"properties": {"a": {"items": {"minLength": 1}}}}]),
            f"{A}.items: Required value: because it is defined in s.oneOf[0].properties[a].items",
        ),
    ],
)
def test_restrictions_speak_of_what_is_declared(schema, expected):
    assert errors(schema) == [expected]


def test_restrictions_below_the_root_may_speak_of_anything():
    assert errors(a({**OBJ, "anyOf": [{"properties": {"b": {"minLength": 1}}}]})) == []


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({**STR}, 's.type: Invalid value: "string": only "object" is allowed as the type at the root of the schema'),
        ({**OBJ, "anyOf": [{"required": ["a"]}]}, "only [Description Type Format Title Maximum"),
        ({**OBJ, "minProperties": 1}, "XPreserveUnknownFields XValidations] fields are allowed at the root"),
        ({**OBJ, "enum": [{}]}, '"Enum":[{}]'),
    ],
)
def test_beside_a_status_subresource_the_root_says_little(schema, text):
    assert any(text in line for line in errors(schema, status=True))
    assert not any(text in line for line in errors(schema))


def test_a_stored_schema_may_stay_as_wrong_as_it_was():
    lax = SchemaOptions(pruned=False, openapi=Options(known_types=False, atomic_sets=False, identified=False))

    assert errors(a({"type": "bogus"}), options=lax) == []
    assert errors(a({"type": "array", LIST: "set", "items": OBJ}), options=lax) == []
    assert errors(a({"type": "array", LIST: "set", "items": {**STR, "nullable": True}}), options=lax) == []
    assert errors(a({**of(b=INT), "default": {"c": 1}}), options=lax) == []
    assert errors({**OBJ, "properties": {"a": {}}}, options=SchemaOptions(structural=False)) == []
