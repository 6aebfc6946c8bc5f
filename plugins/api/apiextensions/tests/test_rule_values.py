"""The rules of a schema about values of every type."""

import pytest
from hyperkube_api.apiextensions.cel.validation import SchemaRules

MAX, MAX32 = 2**63 - 1, 2**31 - 1
BIG = float.fromhex("0x1.fffffffffffffp+1023")


def of(kind, form=""):
    return {"type": kind, "format": form} if form else {"type": kind}


INT, NUM, STR, BOOL = of("integer"), of("number"), of("string"), of("boolean")
BYTE, DURATION, DATE, MOMENT = (of("string", form) for form in ("byte", "duration", "date", "date-time"))


IOS = {"x-kubernetes-int-or-string": True}


def nullable(schema):
    return {**schema, "nullable": True}


def obj(**properties):
    return {"type": "object", "properties": properties}


def vals(*pairs):
    """Return the schema and the object of values named val1, val2, …"""
    named = [(f"val{index}", schema, value) for index, (schema, value) in enumerate(pairs, 1)]
    return obj(**{n: s for n, s, _ in named}), {n: v for n, _, v in named}


def same(one, two, literal):
    return f"{one} == {literal} && {literal} == {one} && {one} == {two}"


CASES = {
    "integers": (
        *vals((INT, MAX), (INT, MAX), (of("integer", "int32"), MAX32), (of("integer", "int64"), MAX)),
        [
            same("self.val1", "self.val2", MAX),
            same("self.val3", "self.val3", MAX32),
            "self.val1 == self.val4",
            "type(self.val1) == int",
            "type(self.val3) == int",
            f"self.val3 + 1 == {MAX32} + 1",
        ],
        {
            "self.val1 + 1 == 0": "integer overflow",
            "self.val4 + 1 == 0": "integer overflow",
            "1 / 0 == 1 / 0": "division by zero",
            "1 % 0 == 1": "modulus by zero",
            "-self.val1 - 2 == 0": "integer overflow",
            "self.val1 * 2 == 0": "integer overflow",
        },
    ),
    "numbers": (
        *vals((NUM, BIG), (NUM, BIG), (of("number", "float"), 3.4e38), (of("number", "double"), 1)),
        [
            same("self.val1", "self.val2", f"{BIG:f}"),
            "type(self.val1) == double",
            "type(self.val3) == double",
            "type(self.val4) == double",
            "self.val4 == 1.0",
        ],
        {},
    ),
    "comparisons of numbers": (
        *vals((INT, 5), (INT, 10), (INT, 15), (NUM, 10.0), (of("number", "float"), 10)),
        [
            *(
                rule.format(val)
                for val in ("self.val4", "self.val5", "10.0")
                for rule in (
                    "double(self.val1) < {}",
                    "double(self.val1) <= {}",
                    "double(self.val2) == {}",
                    "double(self.val2) >= {}",
                    "double(self.val3) > {}",
                    "self.val1 < int({})",
                    "self.val2 == int({})",
                    "self.val3 > int({})",
                    "self.val1 < {}",
                    "self.val3 >= {}",
                )
            ),
            "double(5) < 10.0",
            "15 > int(10.0)",
        ],
        {},
    ),
    "text": (
        *vals((STR, "Rook takes 👑"), (STR, "Rook takes 👑")),
        [
            same("self.val1", "self.val2", "'Rook takes 👑'"),
            "self.val1.startsWith('Rook') && !self.val1.startsWith('knight')",
            "self.val1.contains('takes') && !self.val1.contains('gives')",
            "self.val1.endsWith('👑') && !self.val1.endsWith('pawn')",
            "self.val1.matches('^[^0-9]*$') && !self.val1.matches('^[0-9]*$')",
            "type(self.val1) == string",
            "size(self.val1) == 12",
            "self.val1.charAt(3) == 'k'",
            "self.val1.indexOf('o') == 1 && self.val1.indexOf('o', 2) == 2",
            "self.val1.lastIndexOf('o') == 2 && self.val1.lastIndexOf('o', 1) == 1",
            "self.val1.replace(' ', 'x') == 'Rookxtakesx👑'",
            "self.val1.replace(' ', 'x', 1) == 'Rookxtakes 👑'",
            "self.val1.split(' ') == ['Rook', 'takes', '👑']",
            "self.val1.split(' ', 2) == ['Rook', 'takes 👑']",
            "self.val1.substring(5) == 'takes 👑' && self.val1.substring(0, 4) == 'Rook'",
            "self.val1.substring(4, 10).trim() == 'takes'",
            "self.val1.upperAscii() == 'ROOK TAKES 👑' && self.val1.lowerAscii() == 'rook takes 👑'",
            "['a', 'b'].join() == 'ab' && ['a', 'b'].join('-') == 'a-b'",
            "self.val1.find('[a-z]+') == 'ook'",
        ],
        {
            "self.val1.matches(')')": "compile error: program instantiation failed: error parsing regexp: unexpected ): `)`",
            "self.val1.charAt(100) == 'x'": "index out of range: 100",
            "self.val1.substring(100) == 'x'": "index out of range: 100",
            "self.val1 > 1": "found no matching overload for '_>_' applied to '(string, int)'",
        },
    ),
    "escaped text": (
        *vals((STR, "l1\nl2"), (STR, "l1\nl2")),
        [same("self.val1", "self.val2", "'l1\\nl2'"), "self.val1 == '''l1\nl2'''"],
        {},
    ),
    "bytes": (
        *vals((BYTE, "QUI="), (BYTE, "QUI=")),
        [
            "self.val1 == self.val2",
            "self.val1 == b'AB'",
            "self.val1 == bytes('AB')",
            "self.val1 == b'\\x41\\x42'",
            "type(self.val1) == bytes",
            "size(self.val1) == 2",
        ],
        {},
    ),
    "booleans": (
        *vals((BOOL, True), (BOOL, True), (BOOL, False), (BOOL, False)),
        [
            same("self.val1", "self.val2", "true"),
            same("self.val3", "self.val4", "false"),
            "self.val1 != self.val4",
            "type(self.val1) == bool",
        ],
        {},
    ),
    "durations": (
        *vals((DURATION, "1h2m3s4ms"), (DURATION, "1h2m3s4ms")),
        [
            same("self.val1", "self.val2", "duration('1h2m3s4ms')"),
            "self.val1 == duration('1h2m') + duration('3s4ms')",
            "self.val1.getHours() == 1",
            "self.val1.getMinutes() == 62",
            "self.val1.getSeconds() == 3723",
            "type(self.val1) == google.protobuf.Duration",
        ],
        {},
    ),
    "dates": (
        *vals((DATE, "1997-07-16"), (DATE, "1997-07-16")),
        [
            same("self.val1", "self.val2", "timestamp('1997-07-16T00:00:00.000Z')"),
            "self.val1.getDate() == 16 && self.val1.getMonth() == 06 && self.val1.getFullYear() == 1997",
            "type(self.val1) == google.protobuf.Timestamp",
        ],
        {},
    ),
    "moments": (
        *vals((MOMENT, "2011-08-18T19:03:37.010000000+01:00"), (MOMENT, "2011-08-18T19:03:37.010000000+01:00")),
        [
            same("self.val1", "self.val2", "timestamp('2011-08-18T19:03:37.010+01:00')"),
            "self.val1 == timestamp('2011-08-18T00:00:00.000+01:00') + duration('19h3m37s10ms')",
            "self.val1.getDate('01:00') == 18 && self.val1.getMonth('01:00') == 7",
            "self.val1.getFullYear('01:00') == 2011 && self.val1.getHours('01:00') == 19",
            "self.val1.getMinutes('01:00') == 03 && self.val1.getSeconds('01:00') == 37",
            "self.val1.getMilliseconds('01:00') == 10",
            "self.val1.getHours('UTC') == 18 && self.val1.getHours() == 18",
            "type(self.val1) == google.protobuf.Timestamp",
        ],
        {},
    ),
    "conversions": (
        *vals(
            (INT, 10),
            (NUM, 10.0),
            (NUM, 10.49),
            (NUM, 10.5),
            (BOOL, True),
            (STR, "10"),
            (BYTE, "MTA="),
            (STR, "3723.004s"),
            (DURATION, "1h2m3s4ms"),
            (STR, "2011-08-18T00:00:00Z"),
            (DATE, "2011-08-18"),
        ),
        [
            *(f"int(self.val{index}) == self.val1" for index in (2, 3, 4, 6)),
            "double(self.val1) == self.val2 && double(self.val6) == self.val2",
            "bytes(self.val6) == self.val7 && string(self.val7) == self.val6",
            "string(self.val1) == self.val6 && string(self.val2) == '10'",
            "string(self.val3) == '10.49' && string(self.val4) == '10.5' && string(self.val5) == 'true'",
            "duration(self.val8) == self.val9 && string(self.val9) == self.val8",
            "timestamp(self.val10) == self.val11 && string(self.val11) == self.val10",
        ],
        {},
    ),
    "text where there may be a number": (
        obj(s=IOS),
        {"s": "25%"},
        [
            "self.s == '25%' && self.s != 1",
            "self.s == 1 || self.s == '25%'",
            "self.s == '25%' || self.s == 1",
            "type(self.s) == string && self.s == '25%'",
            "type(self.s) == int ? self.s == 1 : self.s == '25%'",
            "self.s != ['anything']",
        ],
        {"self.s > 1": "no such overload"},
    ),
    "a number where there may be text": (
        obj(s=IOS),
        {"s": 1},
        ["self.s == 1", "self.s != 'some'", "type(self.s) == int && self.s == 1", "self.s != ['anything']"],
        {"self.s.startsWith('a')": "no such overload"},
    ),
    "null where there may be both": (
        obj(s=nullable(IOS)),
        {"s": None},
        ["!has(self.s)"],
        {"type(self.s) == int": "no such key"},
    ),
    "percentages": (
        obj(min=IOS, current=INT, available=INT),
        {"min": "50%", "current": 5, "available": 10},
        [
            r"type(self.min) == string && self.min.matches(r'(\d+(\.\d+)?%)')",
            (
                "type(self.min) == int ? self.current <= self.min : double(self.current) / double(self.available) >= "
                "double(self.min.replace('%', '')) / 100.0"
            ),
        ],
        {},
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


def test_a_transition_is_asked_only_when_there_was_a_value():
    schema = obj(v=STR)

    assert checked(schema, {"v": "new"}, "oldSelf.v != self.v", {"v": "old"}) == []
    assert checked(schema, {"v": "new"}, "oldSelf.v == self.v", {"v": "old"}) != []
    assert checked(schema, {"v": "new"}, "oldSelf.v == self.v") == []
