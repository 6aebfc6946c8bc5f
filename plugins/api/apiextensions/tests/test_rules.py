import pytest
from hyperkube_api.apiextensions.cel.validation import SchemaRules
from hyperkube_api.apiextensions.validation.costs import TotalCost
from hyperkube_api.apiextensions.validation.openapi import Options, validate_openapi

from hyperkube.machinery.field import Path

STRING = {"type": "string"}


def validate_rules(path, schema, *, stored=False):
    total_cost = TotalCost(limit_each=not stored)
    return validate_openapi(path, schema, Options(), total_cost) + total_cost.errors(path)


def schema(spec, *rules):
    return {"type": "object", "properties": {"spec": {**spec, "x-kubernetes-validations": list(rules)}}}


def of_object(properties, *rules):
    return schema({"type": "object", "properties": properties}, *rules)


def errors(declared, spec, old=None):
    before = {"spec": old} if old is not None else None
    return [str(error) for error in SchemaRules(declared).check({"spec": spec}, before)[0]]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"rule": "self.a < 2"}, "spec: Invalid value: failed rule: self.a < 2"),
        ({"rule": "self.a < 2", "message": "too much"}, "spec: Invalid value: too much"),
        ({"rule": "self.a < 2", "messageExpression": "'is ' + string(self.a)"}, "spec: Invalid value: is 5"),
        ({"rule": "self.a < 2", "messageExpression": "string(1 / 0)"}, "spec: Invalid value: failed rule: self.a < 2"),
        (
            {"rule": "self.a < 2", "reason": "FieldValueForbidden", "fieldPath": ".a"},
            "spec.a: Forbidden: failed rule: self.a < 2",
        ),
        ({"rule": "self.a < 2", "reason": "FieldValueRequired"}, "spec: Required value: failed rule: self.a < 2"),
        ({"rule": "self.b == ''"}, "spec: Invalid value: \"object\": no such key: b evaluating rule: self.b == ''"),
        ({"rule": "self.nothing"}, None),
    ],
)
def test_a_broken_rule_says_so(rule, text):
    declared = of_object({"a": {"type": "integer"}, "b": STRING}, rule)

    found = errors(declared, {"a": 5})

    assert len(found) == 1
    assert found[0] == text or (
        text is None and found[0].startswith('spec: Invalid value: "object": rule compile error: compilation failed')
    )


def test_a_scalar_is_shown_and_an_item_named():
    items = {**STRING, "x-kubernetes-validations": [{"rule": "self != 'bad'"}]}
    declared = {"type": "object", "properties": {"spec": {"type": "array", "items": items}}}

    assert errors(declared, ["ok", "bad"]) == ["spec[1]: Invalid value: \"bad\": failed rule: self != 'bad'"]


def test_a_transition_needs_an_old_value_unless_it_is_optional():
    plain = of_object({"a": {**STRING, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}})
    rule = {"rule": "!oldSelf.hasValue() || oldSelf.value() == self", "optionalOldSelf": True}
    optional = of_object({"a": {**STRING, "x-kubernetes-validations": [rule]}})

    assert errors(plain, {"a": "x"}) == []
    assert len(errors(plain, {"a": "x"}, {"a": "y"})) == 1
    assert errors(optional, {"a": "x"}) == []
    assert len(errors(optional, {"a": "x"}, {"a": "y"})) == 1


def test_items_of_a_keyed_list_are_compared_with_their_former_selves():
    item = {
        "type": "object",
        "properties": {"k": STRING, "v": STRING},
        "x-kubernetes-validations": [{"rule": "self.v == oldSelf.v"}],
    }
    spec = {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    declared = {"type": "object", "properties": {"spec": spec}}
    old = [{"k": "a", "v": "1"}, {"k": "b", "v": "2"}]

    assert errors(declared, [{"k": "b", "v": "2"}, {"k": "a", "v": "1"}], old) == []
    assert errors(declared, [{"k": "b", "v": "3"}], old)[0].startswith("spec[0]: ")


def test_what_was_wrong_before_and_stayed_is_only_warned_of():
    declared = of_object({"a": {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 2"}]}})

    found, warnings = SchemaRules(declared).check({"spec": {"a": 5, "b": 1}}, {"spec": {"a": 5}})

    assert found == []
    assert warnings == ["spec.a: Invalid value: 5: failed rule: self < 2"]


def test_values_have_the_types_of_their_formats():
    declared = of_object(
        {
            "at": {"type": "string", "format": "date-time"},
            "for": {"type": "string", "format": "duration"},
            "ratio": {"type": "number"},
            "a-b": STRING,
            "set": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"},
        },
        {"rule": "self.at.getFullYear() == 2024"},
        {"rule": "self.__for__ < duration('2h')"},
        {"rule": "self.ratio / 2.0 == 1.5"},
        {"rule": "self.a__dash__b == 'x'"},
        {"rule": "self.set == ['b', 'a']"},
    )

    assert (
        errors(declared, {"at": "2024-01-01T00:00:00Z", "for": "1h", "ratio": 3, "a-b": "x", "set": ["a", "b"]}) == []
    )


def test_the_root_knows_its_name():
    declared = {"type": "object", "x-kubernetes-validations": [{"rule": "self.metadata.name.startsWith('a')"}]}

    found, _ = SchemaRules(declared).check({"metadata": {"name": "b"}, "kind": "X"}, None)

    assert str(found[0]).startswith("<nil>: Invalid value: failed rule")


def test_endless_work_is_cut():
    ints = {"type": "array", "items": {"type": "integer"}}
    declared = schema(ints, {"rule": "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))"})

    (found,) = errors(declared, list(range(400)))

    assert "no further validation rules will be run due to call cost exceeds limit for rule" in found


@pytest.mark.parametrize(
    ("rule", "field", "text"),
    [
        ({"rule": ""}, "rule", "Required value: rule is not specified"),
        ({"rule": "true", "message": " "}, "message", 'Invalid value: " ": message must be non-empty if specified'),
        (
            {"rule": "true ||\ntrue"},
            "message",
            "Required value: message must be specified if rule contains line breaks",
        ),
        (
            {"rule": "true", "fieldPath": ".x"},
            "fieldPath",
            'Invalid value: ".x": must be a valid path',
        ),
        (
            {"rule": "true", "reason": "X"},
            "reason",
            'Unsupported value: "X": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
        ),
        (
            {"rule": "true", "optionalOldSelf": True},
            "optionalOldSelf",
            "Invalid value: true: may not be set if oldSelf is not used in rule",
        ),
    ],
)
def test_a_rule_must_be_well_formed(rule, field, text):
    declared = of_object({"a": STRING}, rule)

    (found,) = validate_rules(Path("s"), declared)

    assert str(found) == f"s.properties[spec].x-kubernetes-validations[0].{field}: {text}"


def test_a_rule_that_cannot_work_is_shown_whole():
    declared = of_object({"a": STRING}, {"rule": "self.b < 1"})

    (found,) = validate_rules(Path("s"), declared)

    shown = '{"Rule":"self.b \\u003c 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}'
    text = "compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b < 1\n | ....^"
    assert found.body() == f"Invalid value: {shown}: {text}"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("'x'", "cel expression must evaluate to a bool"),
        ("self ==", "compilation failed: ERROR: <input>:1:8: Syntax error"),
    ],
)
def test_a_rule_must_be_a_question(rule, text):
    (found,) = validate_rules(Path("s"), schema(STRING, {"rule": rule}))

    assert text in str(found)


def test_items_without_unique_keys_have_no_old_values():
    items = {**STRING, "maxLength": 10, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}

    (found,) = validate_rules(Path("s"), schema({"type": "array", "items": items}))

    assert "oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[spec]" in str(found)


def test_a_rule_that_may_cost_too_much_is_refused():
    items = {"type": "array", "items": {**STRING, "maxLength": 4096}, "maxItems": 20}
    each = {**items, "items": {**items["items"], "x-kubernetes-validations": [{"rule": "self.contains(self)"}]}}

    (found,) = validate_rules(Path("s"), {"type": "object", "properties": {"a": each}})

    assert found.reason == "FieldValueForbidden"
    assert str(found.path) == "s.properties[a].items.x-kubernetes-validations[0].rule"
    assert found.body() == (
        "Forbidden: estimated rule cost exceeds budget by factor of 5.4x (try simplifying the rule, or adding maxItems, "
        "maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )


def test_rules_of_a_list_without_bound_are_reckoned_for_as_many_items_as_fit_into_a_request():
    items = {"type": "object", "properties": {"a": STRING}, "x-kubernetes-validations": [{"rule": "self.a == 'abc'"}]}

    assert not validate_rules(Path("s"), schema({"type": "array", "items": items}))

    items["x-kubernetes-validations"] = [{"rule": "self.a.contains('abc')"}]
    found = validate_rules(Path("s"), schema({"type": "array", "items": items}))
    assert "more than 100x" in found[0].body()


def test_all_rules_of_a_schema_have_a_limit_together():
    fields = {
        f"f{index:02}": {**STRING, "maxLength": 4000, "x-kubernetes-validations": [{"rule": "self.contains(self)"}] * 2}
        for index in range(20)
    }

    found = validate_rules(Path("s"), {"type": "object", "properties": fields})

    assert [str(error.path) for error in found[:-1]] == [
        f"s.properties[f0{index // 2}].x-kubernetes-validations[{index % 2}].rule" for index in range(4)
    ]
    assert found[0].body() == (
        "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
    )
    assert (str(found[-1].path), found[-1].reason) == ("s", "FieldValueForbidden")
    assert "cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.024001x" in found[-1].body()


def test_a_message_counts_once():
    message = "'x'.matches(self) ? 'a' : 'b'"
    text = {**STRING, "x-kubernetes-validations": [{"rule": "true", "messageExpression": message}]}
    each = {"type": "array", "maxItems": 1_000_000, "items": text}

    assert not validate_rules(Path("s"), {"type": "object", "properties": {"a": each}})


def test_a_schema_that_is_stored_already_may_have_costly_rules():
    items = {**STRING, "x-kubernetes-validations": [{"rule": "self.contains('abcdefghijk')"}]}
    declared = {"type": "object", "properties": {"a": {"type": "array", "maxItems": 20, "items": items}}}

    assert validate_rules(Path("s"), declared)
    assert not validate_rules(Path("s"), declared, stored=True)


@pytest.mark.parametrize(
    ("text", "place"),
    [(".a", "spec.a"), (".m.x", "spec.m[x]"), (".m['x.y']", "spec.m[x.y]"), ("['a-b'].c", "spec.a-b.c")],
)
def test_a_rule_names_the_place_it_speaks_of(text, place):
    properties = {
        "a": STRING,
        "m": {"type": "object", "additionalProperties": STRING},
        "a-b": {"type": "object", "properties": {"c": STRING}},
    }
    declared = of_object(properties, {"rule": "false", "fieldPath": text})

    (found,) = errors(declared, {"a": "x"})

    assert found.startswith(f"{place}: Invalid value")


def test_one_broken_rule_leaves_the_others_alone():
    declared = of_object({"a": {"type": "integer"}}, {"rule": "self.b"}, {"rule": "self.a < 2"})

    found = errors(declared, {"a": 5})

    assert found[0].startswith('spec: Invalid value: "object": rule compile error: compilation failed')
    assert found[1] == "spec: Invalid value: failed rule: self.a < 2"


def test_what_was_wrong_before_and_did_not_change_is_only_warned_of():
    declared = of_object({"a": {"type": "integer"}}, {"rule": "self.a < 2"})
    declared["properties"]["other"] = STRING

    found, warnings = SchemaRules(declared).check({"spec": {"a": 5}, "other": "y"}, {"spec": {"a": 5}, "other": "x"})

    assert found == []
    assert warnings == ["spec: Invalid value: failed rule: self.a < 2"]
    assert SchemaRules(declared).check({"spec": {"a": 6}}, {"spec": {"a": 5}})[0] != []


def test_a_message_that_costs_too_much_ends_the_evaluation():
    items = {"type": "array", "items": {"type": "integer"}}
    message = "lists.range(1000).all(a, lists.range(1000).all(b, a + b >= 0)) ? 'x' : 'y'"
    declared = of_object({"a": items}, {"rule": "false", "messageExpression": message}, {"rule": "false"})

    (found,) = errors(declared, {"a": [1]})

    assert found.startswith('spec: Invalid value: "object": no further validation rules will be run due to call cost')
