"""Every rule that lists, maps and defaults of a schema may break, with the texts of Kubernetes; the schema is at ``s``."""

import pytest
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

BAD = [
    # Lists and maps.
    (a({**STR, MAP: "atomic"}), [f'{A}.type: Invalid value: "string": must be object if {MAP} is specified']),
    (a({PRESERVE: True, MAP: "atomic"}), [f"{A}.type: Required value: must be object if {MAP} is specified"]),
    (a({**OBJ, MAP: "x"}), [f'{A}.{MAP}: Unsupported value: "x": supported values: "atomic", "granular"']),
    (a({**STR, LIST: "set"}), [f'{A}.type: Invalid value: "string": must be array if {LIST} is specified']),
    (a({PRESERVE: True, LIST: "set"}), [f"{A}.type: Required value: must be array if {LIST} is specified"]),
    (
        a({"type": "array", "items": STR, LIST: "x"}),
        [f'{A}.{LIST}: Unsupported value: "x": supported values: "atomic", "set", "map"'],
    ),
    (
        a({"type": "array", "items": STR, KEYS: ["k"]}),
        [f"{A}.{LIST}: Required value: must be map if {KEYS} is non-empty"],
    ),
    (
        a({"type": "array", "items": STR, LIST: "set", KEYS: ["k"]}),
        [f'{A}.{LIST}: Invalid value: "set": must be map if {KEYS} is non-empty'],
    ),
    (
        a({"type": "array", "items": {**of(k=STR), "required": ["k"]}, LIST: "map"}),
        [f"{A}.{KEYS}: Required value: must not be empty if {LIST} is map"],
    ),
    (
        a({"type": "array", LIST: "map", KEYS: ["k"]}),
        [
            f"{A}.items: Required value: must be specified",
            f"{A}.items: Required value: must have a schema if {LIST} is map",
        ],
    ),
    (
        a({"type": "array", LIST: "map", KEYS: ["k"], "items": STR}),
        [f'{A}.items.type: Invalid value: "string": must be object if parent array\'s {LIST} is map'],
    ),
    (
        a({"type": "array", LIST: "map", KEYS: ["k"], "items": {**of(k=OBJ), "required": ["k"]}}),
        [
            f'{A}.items.properties[k].type: Invalid value: "object": must be a scalar type if parent array\'s {LIST} is map'
        ],
    ),
    (
        a({"type": "array", LIST: "map", KEYS: ["k"], "items": of(x=STR)}),
        [f'{A}.{KEYS}: Invalid value: ["k"]: entries must all be names of item properties'],
    ),
    (
        a({"type": "array", LIST: "map", KEYS: ["k", "k"], "items": {**of(k=STR), "required": ["k"]}}),
        [f'{A}.{KEYS}: Invalid value: ["k","k"]: must not contain duplicate entries'],
    ),
    (
        a({"type": "array", LIST: "map", KEYS: ["k"], "items": of(k=STR)}),
        [
            (
                f"{A}.items.properties[k].default: Required value: this property is in {KEYS}, so it must have a default or be "
                "a required property"
            )
        ],
    ),
    (
        a({"type": "array", LIST: "map", KEYS: ["k"], "items": {**of(k={**STR, "nullable": True}), "required": ["k"]}}),
        [f"{A}.items.properties[k].nullable: Forbidden: this property is in {KEYS}, so it cannot be nullable"],
    ),
    *(
        (
            a({"type": "array", LIST: kind, "items": {**item, "nullable": True}, **keys}),
            [f"{A}.items.nullable: Forbidden: cannot be nullable when {LIST} is {kind}"],
        )
        for kind, item, keys in (("set", STR, {}), ("map", {**of(k=STR), "required": ["k"]}, {KEYS: ["k"]}))
    ),
    (
        a({"type": "array", LIST: "set", "items": OBJ}),
        [f"{A}.items.{MAP}: Invalid value: null: must be atomic as item of a list with {LIST}=set"],
    ),
    (
        a({"type": "array", LIST: "set", "items": {**OBJ, MAP: "granular"}}),
        [f"{A}.items.{MAP}: Invalid value: null: must be atomic as item of a list with {LIST}=set"],
    ),
    (
        a({"type": "array", LIST: "set", "items": {"type": "array", LIST: "set", "items": STR}}),
        [f'{A}.items.{LIST}: Invalid value: "set": must be atomic as item of a list with {LIST}=set'],
    ),
    # Defaults.
    (
        a({**STR, "default": 1}),
        [f'{A}.default: Invalid value: "integer":  in body must be of type string: "integer"'],
    ),
    (a({**of(b=INT), "default": {"c": 1}}), [f'{A}.default: Invalid value: {{"c":1}}: must not have unknown fields']),
    (
        a({**of(b=INT), "default": {"b": "x"}}),
        [f'{A}.default.b: Invalid value: "string": b in body must be of type integer: "string"'],
    ),
    (
        a({**INT, "minimum": 3, "default": 1}),
        [f"{A}.default: Invalid value: 1:  in body should be greater than or equal to 3"],
    ),
    (
        a({"type": "array", "items": {**STR, "default": 1}}),
        [f'{A}.items.default: Invalid value: "integer":  in body must be of type string: "integer"'],
    ),
    (
        a({**OBJ, EMBEDDED: True, PRESERVE: True, "default": {"kind": "Pod"}}),
        [f"{A}.default.apiVersion: Required value"],
    ),
    (
        a({**OBJ, EMBEDDED: True, PRESERVE: True, "default": {"apiVersion": "a/b/c", "kind": "P od"}}),
        [
            f'{A}.default.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
            f'{A}.default.kind: Invalid value: "P od": may have mixed case, but should otherwise match: a DNS-1035 label',
        ],
    ),
    (
        of(metadata={**OBJ, "default": {}}),
        ["s.properties[metadata].default: Forbidden: must not be set in top-level metadata"],
    ),
    (of(kind={**STR, "default": "X"}), ["s.properties[kind].default: Forbidden: must not be set in top-level kind"]),
    (
        of(apiVersion={**STR, "default": "X"}),
        ["s.properties[apiVersion].default: Forbidden: must not be set in top-level apiVersion"],
    ),
    (
        a({EMBEDDED: True, **of(metadata=of(labels={**OBJ, "additionalProperties": {**STR, "default": "x"}}))}),
        [
            (
                f"{A}.properties[metadata].properties[labels].additionalProperties.default: Forbidden: must not be set inside "
                "additionalProperties applying to object metadata"
            )
        ],
    ),
    (
        a({EMBEDDED: True, **of(metadata=of(labels={**OBJ, PRESERVE: True, "default": {"a": 1}}))}),
        [
            f'{A}.properties[metadata].properties[labels].default: Invalid value: {{"a":1}}: must result in valid metadata: '
        ],
    ),
    (
        a({EMBEDDED: True, **of(kind={**STR, "default": "a b"})}),
        [
            f'{A}.properties[kind].default: Invalid value: "a b": must result in valid metadata: kind: Invalid value: "a b": may'
        ],
    ),
]


@pytest.mark.parametrize(("schema", "expected"), BAD, ids=lambda value: str(value)[-60:])
def test_lists_and_defaults_may_not_say(schema, expected):
    found = errors(schema)

    assert len(found) == len(expected), found
    for line, text in zip(found, expected, strict=True):
        assert line.startswith(text)
