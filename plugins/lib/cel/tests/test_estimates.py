"""Estimates, with the figures of kubernetes apiextensions-apiserver ``pkg/apiserver/schema/cel/compilation_test.go``."""

import pytest
from hyperkube_lib.cel import base_environment
from hyperkube_lib.cel.sizes import size_of
from hyperkube_lib.cel.structural import declared

STRING = {"type": "string"}
NUMBER = {"type": "number"}
OBJECT = {"type": "object", "required": ["required"], "properties": {"required": STRING, "optional": STRING}}


def list_of(item, most=None):
    return {"type": "array", "items": item} | ({"maxItems": most} if most is not None else {})


def map_of(value, most=None):
    return {"type": "object", "additionalProperties": value} | ({"maxProperties": most} if most is not None else {})


def text(most=None, **more):
    return {**STRING, **more} | ({"maxLength": most} if most is not None else {})


def most(schema, rule):
    own = declared(schema)
    return base_environment({"self": own, "oldSelf": own}).compile(rule).most(size_of(schema))


REPLACED = {"type": "object", "properties": {"str": STRING, "before": text(2), "after": text(4)}}
SPLIT = {"type": "object", "properties": {"str": STRING, "separator": STRING}}
NESTED = list_of(map_of({**OBJECT, "required": ["required"]}))


@pytest.mark.parametrize(
    ("schema", "rule", "cost"),
    [
        (list_of(NUMBER), "self.all(x, true)", 4718591),
        (list_of(NUMBER, 10), "self.all(x, true)", 32),
        (list_of(STRING), "self.all(x, true)", 3145727),
        (list_of({"type": "boolean"}), "self.all(x, true)", 1887437),
        (list_of(list_of(NUMBER)), "self.all(x, true)", 3145727),
        (list_of(OBJECT), "self.all(x, true)", 555128),
        (map_of(NUMBER), "self.all(x, true)", 1348169),
        (map_of(STRING), "self.all(x, true)", 1179647),
        (map_of({"type": "boolean"}), "self.all(x, true)", 943718),
        (text(), "self.contains('test')", 314574),
        (text(10), "self.contains('test')", 5),
        (text(), "self.startsWith('test')", 2),
        (text(30), "self.endsWith('test')", 2),
        (text(), 'size(self + "hello") > size("hello")', 314578),
        (text(4), 'size(self + "hello") > size("hello")', 7),
        (list_of(NUMBER), "self[1] == 0.0", 2),
        (list_of(STRING), "self[1] == self[1]", 314577),
        (list_of(NUMBER, 10), "self.all(x, self.all(y, true))", 352),
        (list_of(NUMBER, 10), "self.all(x, self.all(y, self.all(z, true)))", 3552),
        (text(), 'self.matches("x")', 314574),
        (text(50), 'self.matches("x")', 22),
        (text(), '"".matches("(((((((((())))))))))[0-9]")', 7),
        (text(), 'self.matches("")', 1),
        (map_of(STRING), "self.all(x, x.contains(self[x]))", 2752507),
        (map_of(text(10), 10), "self.all(x, x.contains(self[x]))", 72),
        (map_of(NUMBER), 'self["x"] == 0.0', 2),
        (text(), 'self == "x"', 2),
        (text(0), 'self == "x"', 1),
        (text(format="byte"), 'self == b"x"', 2),
        (text(0, format="byte"), 'self == b"x"', 1),
        (list_of(NUMBER), "self.all(x, x == 0.0)", 6291454),
        (list_of(NUMBER, 3 * 1024 * 2048), "self.all(x, x == 0.0)", 25165826),
        (NESTED, 'self.all(x, x["y"].required == "z")', 7340027),
        (list_of(map_of(OBJECT, 10), 10), 'self.all(x, x["y"].required == "z")', 72),
        (list_of({"x-kubernetes-int-or-string": True}), "self.all(x, true)", 4718591),
        (list_of({"x-kubernetes-int-or-string": True}), "self[0] == 5", 3),
        (list_of({"type": "boolean"}), "self[0] == false", 2),
        (list_of(OBJECT), "self[0] == null", 2),
        (list_of(list_of(NUMBER)), "self[0][0] == -1.0", 3),
        (list_of(map_of(NUMBER)), "self.all(x, x.y == 25.2)", 6291452),
        (list_of(map_of(NUMBER)), "self[0].x > 2.0", 4),
        (list_of(text(format="duration")), "self.all(x, true)", 2359295),
        (list_of(text(format="duration")), "self[0].getHours() == 2", 4),
        (list_of(text(format="date")), "self.all(x, true)", 725936),
        (list_of(text(format="date-time")), "self.all(x, true)", 428963),
        (list_of(text(format="date-time")), "self[2].getMinutes() == 45", 4),
        (map_of(text(format="duration")), "self.all(x, true)", 1048577),
        (map_of(OBJECT), "self.all(x, true)", 428963),
        (text(), "self.find('[0-9]+') == ''", 629147),
        (text(10), "self.find('[0-9]+') == ''", 11),
        (list_of(STRING), "self.join(' ') == 'aa bb'", 329853068905),
        (list_of(text(10), 10), "self.join(' ') == 'aa bb'", 43),
        (list_of(STRING), "self.isSorted() == true", 329854432052),
        (list_of(text(10), 10), "self.isSorted() == true", 52),
        (REPLACED, "self.str.replace(self.before, self.after) == 'does not matter'", 629154),
        (SPLIT, "self.str.split(self.separator) == []", 629160),
        (text(), "self.lowerAscii() == 'lower!'", 314575),
        (text(10), "self.lowerAscii() == 'lower!'", 6),
        (map_of({"type": "integer"}), "oldSelf.size() == self.size()", 5),
        (map_of(text(format="date-time")), 'self["a"] == self["b"]', 8),
        (text(enum=["A", "B", "C", "LongValue"]), "self.contains('A')", 2),
    ],
)
def test_the_most_a_rule_can_cost(schema, rule, cost):
    assert most(schema, rule) == cost


@pytest.mark.parametrize(
    ("rule", "cost"),
    [
        ("has(self.required)", 1),
        ("self.required == 'a' && self.optional == 'b'", 6),
        ("['a', 'b'].exists(x, x == self.required)", 25),
        ("['a', 'b'].filter(x, x == self.required).size() == 1", 55),
        ("['a', 'b'].map(x, x + 'c').exists(x, x == 'a')", 60),
        ("['a', 'b'].exists_one(x, x == 'b')", 18),
        ("self.required in ['a', 'b']", 14),
        ("sets.contains(['a'], ['a', 'b'])", 23),
        ("dyn(self.required) == 'a'", 4),
        ("isQuantity(self.required) && quantity(self.required).isGreaterThan(quantity('1'))", 8),
    ],
)
def test_macros_cost_what_the_loops_they_stand_for_do(rule, cost):
    assert most(OBJECT, rule) == cost


def test_a_cost_above_every_number_is_the_largest():
    deep = "self" + "".join(f".map(x{index}, self" for index in range(4)) + ")" * 4 + " == []"

    assert most(list_of(NUMBER), deep) == 2**64 - 1
