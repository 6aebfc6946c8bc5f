"""The rules of a schema about lists, maps and objects."""

import pytest
from hyperkube_api.apiextensions.cel.validation import SchemaRules

INT, STR = {"type": "integer"}, {"type": "string"}
ANY = {"x-kubernetes-preserve-unknown-fields": True}


def nullable(schema):
    return {**schema, "nullable": True}


def listed(items, kind="atomic", *keys):
    found = {"type": "array", "items": items, "x-kubernetes-list-type": kind}
    return {**found, "x-kubernetes-list-map-keys": list(keys)} if keys else found


def mapped(values):
    return {"type": "object", "additionalProperties": values}


def obj(**properties):
    return {"type": "object", "properties": properties}


def vals(*pairs):
    """Return the schema and the object of values named val1, val2, …"""
    named = [(f"val{index}", schema, value) for index, (schema, value) in enumerate(pairs, 1)]
    return obj(**{n: s for n, s, _ in named}), {n: v for n, _, v in named}


def same(one, two, literal):
    return f"{one} == {literal} && {literal} == {one} && {one} == {two}"


KNOWN = {"type": "object", "properties": {"known": INT}, **ANY}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "foo", "generateName": "pick", "namespace": "xyz"}}
NAMES = obj(name=STR, generateName=STR)
OF_POD = ["kind == 'Pod'", "apiVersion == 'v1'", "metadata.name == 'foo'", "metadata.generateName == 'pick'"]
RESERVED = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
]
CELS = [
    "int",
    "uint",
    "double",
    "bool",
    "string",
    "bytes",
    "list",
    "map",
    "null_type",
    "type",
    "self",
    "getDate",
    "all",
    "_true",
]
TWINS = {"k1": "a", "k2": "b"}

CASES = {
    "lists": (
        *vals((listed(INT), [1, 2, 3]), (listed(INT), [1, 2, 3])),
        [
            same("self.val1", "self.val2", "[1, 2, 3]"),
            "1 in self.val1 && self.val2[0] in self.val1 && !(0 in self.val1)",
            "self.val1 + self.val2 == [1, 2, 3, 1, 2, 3]",
            "self.val1 + [4, 5] == [1, 2, 3, 4, 5]",
        ],
        {"self.val1[100] == 0": "index out of bounds: 100", "self.val1[-1] == 0": "index out of bounds: -1"},
    ),
    "sets": (
        *vals((listed(STR, "set"), ["a", "b", "c"]), (listed(STR, "set"), ["a", "c", "b"])),
        [
            "self.val1 == ['c', 'b', 'a']",
            "self.val1 == self.val2",
            "'a' in self.val1 && !('x' in self.val1)",
            "self.val2[0] in self.val1",
            "self.val1 + self.val2 == ['a', 'b', 'c']",
            "self.val1 + ['c', 'd'] == ['a', 'b', 'c', 'd']",
        ],
        {},
    ),
    "lists that are maps": (
        obj(objs=listed(listed(obj(k=STR, v=STR), "map", "k"))),
        {
            "objs": [
                [{"k": "a", "v": "1"}, {"k": "b", "v": "2"}],
                [{"k": "b", "v": "2"}, {"k": "a", "v": "1"}],
                [{"k": "b", "v": "3"}, {"k": "a", "v": "1"}],
                [{"k": "c", "v": "4"}],
            ]
        },
        [
            "self.objs[0] == self.objs[1]",
            "self.objs[0] != self.objs[2]",
            "self.objs[0] + self.objs[2] == self.objs[2]",
            "self.objs[2] + self.objs[0] == self.objs[0]",
            "self.objs[0] == [self.objs[0][0], self.objs[0][1]]",
            "self.objs[0] == [self.objs[0][1], self.objs[0][0]]",
            "self.objs[2] + [self.objs[0][0], self.objs[0][1]] == self.objs[0]",
            "size(self.objs[0] + [self.objs[3][0]]) == 3",
        ],
        {"self.objs[0] == {'k': 'a', 'v': '1'}": "no matching overload for '_==_'"},
    ),
    "maps": (
        *vals((mapped(STR), TWINS), (mapped(STR), dict(reversed(TWINS.items())))),
        [
            "self.val1 == self.val2",
            "'k1' in self.val1 && !('k3' in self.val1)",
            "self.val1 == {'k1': 'a', 'k2': 'b'}",
        ],
        {},
    ),
    "objects": (
        obj(objs=listed(obj(f1=STR, f2=STR))),
        {"objs": [{"f1": "a", "f2": "b"}, {"f1": "a", "f2": "b"}]},
        ["self.objs[0] == self.objs[1]", "type(self.objs[0]) == type(self.objs[1])", "type(self) == type(self)"],
        {
            "self.objs[0] == {'f1': 'a', 'f2': 'b'}": "found no matching overload for '_==_'",
            "string(type(self.objs[0])).endsWith('.objs.@idx')": "found no matching overload for 'string' applied to '(type",
        },
    ),
    "members": (
        obj(a=obj(b=INT, c=INT, d=nullable(INT)), a1=obj(b1=obj(c1=INT), d2=obj(e2=INT))),
        {"a": {"b": 1, "d": None}, "a1": {"b1": {"c1": 4}}},
        [
            "has(self.a.b) && !has(self.a.c) && !has(self.a.d)",
            "has(self.a1.b1.c1)",
            "!(has(self.a1.d2) && has(self.a1.d2.e2))",
            "!has(self.a1.d2)",
            "self.a.?c.orValue(7) == 7",
            "self.a1.?d2.?e2.hasValue() == false",
        ],
        {
            "has(self.a.z)": "undefined field 'z'",
            "self.a['b'] == 1": "no matching overload for '_[_]'",
            "has(self.a1.d2.e2)": "no such key: d2",
            "self.a.c == 1": "no such key: c",
        },
    ),
    "values of maps": (
        obj(val=mapped(INT)),
        {"val": {"b": 1, "d": 2}},
        [
            "!('a' in self.val) && 'b' in self.val",
            "!has(self.val.a) && has(self.val.b)",
            "self.val.all(k, self.val[k] > 0)",
            "self.val.exists(k, self.val[k] > 1) && !self.val.exists(k, self.val[k] > 2)",
            "self.val.exists_one(k, self.val[k] == 2) && !self.val.exists_one(k, self.val[k] > 0)",
            "size(self.val) == 2",
            "self.val.map(k, self.val[k]).exists(v, v == 1)",
            "size(self.val.filter(k, self.val[k] > 1)) == 1",
            "self.val.all(k, v, v > 0 && k in ['b', 'd'])",
            "self.val.transformMap(k, v, v * 2) == {'b': 2, 'd': 4}",
            "self.val.transformList(k, v, k).sort() == ['b', 'd']",
        ],
        {"self.val['c'] == 1": "no such key: c"},
    ),
    "items of lists that are maps": (
        obj(l=listed(obj(k=STR, v=STR, v2=STR), "map", "k")),
        {"l": [{"k": "a1", "v": "b1"}, {"k": "a2", "v": "b2"}, {"k": "a3", "v": "b3", "v2": "z"}]},
        [
            "has(self.l[0].v)",
            "self.l.all(m, m.k.startsWith('a')) && !self.l.all(m, m.k.endsWith('1'))",
            "self.l.all(m, !has(m.v2) || m.v2 == 'z')",
            "self.l.exists(m, m.k.endsWith('1')) && !self.l.exists(m, m.v == 'x')",
            "self.l.exists_one(m, m.k == 'a3') && !self.l.exists_one(m, m.k.startsWith('a'))",
            "size(self.l.filter(m, m.k == 'a1')) == 1",
            "self.l.map(m, m.v).exists(v, v == 'b1')",
            "self.l.exists(m, has(m.v2) && m.v2 == 'z')",
            "!self.l.all(m, has(m.v2) && m.v2 != 'z')",
            "self.l.map(m, has(m.v2) && m.v2 == 'z', m.v2).size() == 1",
            "self.l.exists(m, m.v2 == 'z')",
            "!self.l.all(m, m.v2 != 'z')",
        ],
        dict.fromkeys(
            (
                "self.l.all(m, m.v2 == 'z')",
                "self.l.exists_one(m, m.v2 == 'z')",
                "self.l.filter(m, m.v2 == 'z').size() == 1",
                "self.l.map(m, m.v2).size() == 1",
                "self.l.map(m, m.v2 == 'z', m.v2).size() == 1",
            ),
            "no such key: v2",
        ),
    ),
    "items": (
        obj(array=listed(INT)),
        {"array": [1, 1, 2, 2, 3, 3, 4, 5]},
        [
            "2 in self.array",
            "self.array.all(e, e > 0) && !self.array.all(e, e < 2)",
            "self.array.exists(e, e > 2) && !self.array.exists(e, e < 0)",
            "self.array.exists_one(e, e > 4) && !self.array.exists_one(e, e == 2)",
            "size(self.array.filter(e, e%2 == 0)) == 3",
            "self.array.map(e, e * 20).filter(e, e > 50).exists(e, e == 60)",
            "self.array.all(i, e, i >= 0 && e > 0)",
        ],
        {},
    ),
    "the type of an object": (
        obj(spec=obj(a=STR)),
        {**POD, "spec": {"a": "x"}},
        [*(f"self.{rule}" for rule in OF_POD), "self.spec.a == 'x'"],
        {"has(self.metadata.namespace)": "undefined field 'namespace'"},
    ),
    "an embedded object": (
        obj(e={"type": "object", "x-kubernetes-embedded-resource": True}),
        {"e": {**POD, "spec": {"a": "x"}}},
        [f"self.e.{rule}" for rule in OF_POD],
        {"has(self.e.metadata.namespace)": "undefined field 'namespace'", "has(self.e.spec)": "undefined field 'spec'"},
    ),
    "an embedded object with a schema": (
        obj(
            e={**obj(kind=STR, apiVersion=STR, metadata=NAMES, spec=obj(a=STR)), "x-kubernetes-embedded-resource": True}
        ),
        {"e": {**POD, "spec": {"a": "x"}}},
        [*(f"self.e.{rule}" for rule in OF_POD), "self.e.spec.a == 'x'"],
        {"has(self.e.metadata.namespace)": "undefined field 'namespace'"},
    ),
    "an embedded object that keeps what is unknown": (
        obj(e={"type": "object", "x-kubernetes-embedded-resource": True, **ANY}),
        {"e": {**POD, "spec": {"a": "x"}}},
        [*(f"self.e.{rule}" for rule in OF_POD), "has(self.e)"],
        {"has(self.e.spec)": "undefined field 'spec'"},
    ),
    "what is unknown": (
        obj(
            o={"type": "object", **ANY},
            l=listed({"type": "object", **ANY}),
            f=listed(obj(u=ANY)),
            al=listed(ANY),
            am=mapped(ANY),
            a1=ANY,
        ),
        {
            "o": {"f1": "a"},
            "l": [{"f": "a"}, {"f": "x"}, {"f": "x"}, {}, {}],
            "f": [{"u": "a"}, {"u": 1}, {"u": 1}],
            "al": ["a", 2],
            "am": {"k": "1"},
            "a1": 1,
        },
        [
            "has(self.o) && self.l.size() == 5",
            "self.l[0] != self.l[1] && self.l[1] == self.l[2] && self.l[3] == self.l[4]",
            "self.f[0] != self.f[1] && self.f[1] == self.f[2]",
        ],
        {
            "has(self.o.f1)": "undefined field 'f1'",
            **{f"has(self.{name})": f"undefined field '{name}'" for name in ("al", "am", "a1")},
        },
    ),
    "what is partly unknown": (
        obj(o=KNOWN, l=listed(KNOWN)),
        {
            "o": {"known": 1, "unknown": "a"},
            "l": [{"known": 1, "u": "a"}, {"known": 1, "u": "b"}, {"known": 1, "u": "b"}, {"known": 1}, {"known": 2}],
        },
        [
            "self.o.known == 1",
            "self.l[0] != self.l[1]",
            "self.l[1] == self.l[2]",
            "self.l[0] != self.l[3]",
            "self.l[3] != self.l[4]",
        ],
        {"has(self.o.unknown)": "undefined field 'unknown'"},
    ),
    "nulls": (
        obj(a=STR, b=nullable(STR), c=nullable(STR), m=mapped(nullable(STR)), l=listed(nullable(STR))),
        {"a": "x", "b": "y", "c": None, "m": {"a": None, "b": "x"}, "l": [None, "x"]},
        [
            "has(self.b) && type(self.b) != null_type",
            "!has(self.c)",
            "self.m.size() == 2 && 'a' in self.m && type(self.m['a']) == null_type",
            "self.l.size() == 2 && type(self.l[0]) == null_type",
        ],
        {
            "self.a == null": "no matching overload for '_==_' applied to '(string, null)",
            "self.b != null": "no matching overload for '_!=_' applied to '(string, null)",
        },
    ),
    "names": (
        obj(**dict.fromkeys([*RESERVED, *CELS, "dot.dot", "dash-dash", "slash/slash", "a_b", "a__b"], INT), size=STR),
        {
            name: place
            for place, name in enumerate([*RESERVED, *CELS, "dot.dot", "dash-dash", "slash/slash", "a_b", "a__b"])
        }
        | {"size": "204"},
        [
            *(f"self.__{name}__ == {place}" for place, name in enumerate(RESERVED)),
            *(f"self.{name} == {place}" for place, name in enumerate(CELS, len(RESERVED))),
            "self.size == '204'",
            *(
                f"self.{name} == {place}"
                for place, name in enumerate(
                    ["dot__dot__dot", "dash__dash__dash", "slash__slash__slash", "a_b", "a__underscores__b"],
                    len(RESERVED) + len(CELS),
                )
            ),
        ],
        {
            "self.true == 1": "mismatched input 'true' expecting",
            "self == 201": "found no matching overload for '_==_'",
            "self.__illegal__ == 301": "undefined field '__illegal__'",
        },
    ),
    "keys": (
        obj(m=mapped(INT)),
        {"m": {"@": 1, "9": 2, "int": 3, "./-": 4, "👑": 5}},
        ["self.m['@'] == 1", "self.m['9'] == 2", "self.m['int'] == 3", "self.m['./-'] == 4", "self.m['👑'] == 5"],
        {},
    ),
    "names that cannot be written": (
        obj(objs=listed(listed({"type": "object", "properties": {"k!": STR, "k.": STR}}, "map", "k!", "k."))),
        {
            "objs": [
                [{"k!": "a", "k.": "1"}, {"k!": "b", "k.": "2"}],
                [{"k!": "b", "k.": "2"}, {"k!": "a", "k.": "1"}],
                [{"k!": "b", "k.": "2"}, {"k!": "c", "k.": "1"}],
            ]
        },
        ["self.objs[0] == self.objs[1]", "self.objs[0][0].k__dot__ == '1'", "self.objs[0] != self.objs[2]"],
        {"self.objs[0][0].k! == '1'": "Syntax error: mismatched input '!' expecting"},
    ),
}


def checked(schema, value, rule, old=None):
    declared = {**schema, "x-kubernetes-validations": [{"rule": rule}]}
    return [str(error) for error in SchemaRules(declared).check(value, old)[0]]


@pytest.mark.parametrize(
    ("schema", "value", "rule"),
    [
        pytest.param(case[0], case[1], rule, id=f"{name}: {rule[:50]}")
        for name, case in CASES.items()
        for rule in case[2]
    ],
)
def test_a_rule_holds(schema, value, rule):
    assert checked(schema, value, rule) == []


@pytest.mark.parametrize(
    ("schema", "value", "rule", "text"),
    [
        pytest.param(case[0], case[1], rule, text, id=f"{name}: {rule[:50]}")
        for name, case in CASES.items()
        for rule, text in case[3].items()
    ],
)
def test_a_rule_cannot_say(schema, value, rule, text):
    (found,) = checked(schema, value, rule)

    assert text in found
