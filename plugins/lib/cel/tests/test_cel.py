import pytest
from hyperkube_lib.cel import CompilationFailed, CostExceeded, EvaluationError, base_environment
from hyperkube_lib.cel.parser import parse
from hyperkube_lib.cel.types import DYN, INT, STRING, map_of, struct

OBJECT = {
    "metadata": {"name": "x", "labels": {"a": "b"}},
    "spec": {"replicas": 3, "containers": [{"name": "c", "image": "nginx:1"}]},
}
NAMES = {"object": OBJECT, "self": {"a": 1}, "request": {"operation": "CREATE"}, "n": 5}


@pytest.fixture(scope="module")
def environment():
    request = struct("kubernetes.AdmissionRequest", {"operation": STRING})
    return base_environment({"object": DYN, "self": map_of(STRING, INT), "request": request, "n": INT})


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1 + 2 * 3", 7),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("2u + 3u", 5),
        ("'a' + 'b'", "ab"),
        ("object.metadata.name == 'x'", True),
        ("has(object.data) && object.data.x == 'y'", False),
        ("object.nothing == 1 || true", True),
        ("true || object.nothing == 1", True),
        ("object.spec.containers.all(c, c.image.startsWith('nginx'))", True),
        ("object.spec.containers.exists_one(c, c.name == 'c')", True),
        ("object.metadata.?labels.orValue({}) == {'a': 'b'}", True),
        ("object.metadata.?nothing.hasValue()", False),
        ("object.?spec.replicas.orValue(0)", 3),
        ("[?object.?nothing, 1]", [1]),
        ("[1, 2, 3].map(x, x * 2).filter(y, y > 2)", [4, 6]),
        ("type(n) == int ? 's' : 't'", "s"),
        ("quantity('1Gi').isGreaterThan(quantity('500Mi'))", True),
        ("quantity('1500m').add(quantity('500m')).asInteger()", 2),
        ("'a%sb%d %.2f'.format(['x', 3, 1.5])", "axb3 1.50"),
        ("self.all(k, self[k] > 0)", True),
        ("duration('1h30m').getMinutes()", 90),
        ("timestamp('2020-02-03T04:05:06Z').getMonth()", 1),
        ("timestamp('2020-01-01T00:00:00Z') + duration('24h') > timestamp('2020-01-01T23:00:00Z')", True),
        ("string(duration('90s'))", "90s"),
        ("string(1.0)", "1"),
        ("'foo123'.find('[0-9]+')", "123"),
        ("'a1b2'.findAll('[0-9]')", ["1", "2"]),
        ("'a,b'.split(',')", ["a", "b"]),
        ("'hello'.substring(1, 3)", "el"),
        ("['b', 'a'].sort()", ["a", "b"]),
        ("[1, 2, 3].sum()", 6),
        ("[1, 2, 2].isSorted()", True),
        ("cidr('10.0.0.0/8').containsIP('10.1.2.3')", True),
        ("ip('::1').family()", 6),
        ("url('https://a.example:80/c?d=e').getHostname()", "a.example"),
        ("isURL('../x')", False),
        ("semver('1.2.3').isLessThan(semver('1.10.0'))", True),
        ("format.dns1123Label().validate('ok').hasValue()", False),
        ("{'a': 1}.transformMap(k, v, v + 1)", {"a": 2}),
        ("optional.of(2).optMap(x, x * x).value()", 4),
        ("sets.contains([1, 2], [2])", True),
        ("dyn(1) == 1.0", True),
        ("b'abc' == bytes('abc')", True),
        (r"'\u00e9\n' == 'é\n'", True),
        ("r'\\d' == '\\\\d'", True),
        ("optional.of(1).optMap(x, x + 1).value()", 2),
        ("'x' in {'x': 1}", True),
        ("has(dyn(null).foo) || has(dyn(5).foo)", False),
        ("dyn(null).?foo.?bar.orValue('none')", "none"),
        ("dyn('a')[?0].hasValue()", False),
    ],
)
def test_an_expression_has_its_value(environment, source, value):
    assert environment.compile(source).evaluate(NAMES) == value


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("object.foo", "no such key: foo"),
        ("[1][2]", "index out of bounds: 2"),
        ("1 / 0", "division by zero"),
        ("int('x')", "type conversion error from 'string' to 'int'"),
        ("9223372036854775807 + n", "integer overflow"),
        ("dyn('a') < 1", "no such overload"),
        ("object.metadata.name.matches('(b' + '')", "error parsing regexp: missing closing ): `(b`"),
        ("optional.none().value()", "optional.none() dereference"),
        ("dyn(null).foo", "no such key: foo"),
        ("dyn('a').foo", "no such key: foo"),
        ("dyn(5)[0]", "no such key: 0"),
        ("dyn(null)['a']", "no such key: a"),
        ("dyn([1]).foo", "unsupported index type 'string' in list"),
        ("has(dyn([1]).foo)", "unsupported index type 'string' in list"),
        ("dyn([1]).?foo", "unsupported index type 'string' in list"),
    ],
)
def test_an_evaluation_fails_with_its_text(environment, source, text):
    with pytest.raises(EvaluationError) as caught:
        environment.compile(source).evaluate(NAMES)

    assert str(caught.value) == text


STARTS = (
    "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "foo(",
            f"1:5: Syntax error: mismatched input '<EOF>' expecting {{{STARTS.replace('(', '(', 1).replace(chr(39) + '.' + chr(39), chr(39) + ')' + chr(39) + ', ' + chr(39) + '.' + chr(39))}}}\n | foo(\n | ....^",
        ),
        ("1 +", f"1:4: Syntax error: mismatched input '<EOF>' expecting {{{STARTS}}}\n | 1 +\n | ...^"),
        (
            "Object{",
            "1:8: Syntax error: mismatched input '<EOF>' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}\n | Object{\n | .......^",
        ),
        ("a b", "1:3: Syntax error: extraneous input 'b' expecting <EOF>\n | a b\n | ..^"),
        ("bar", "1:1: undeclared reference to 'bar' (in container '')\n | bar\n | ^"),
        ("1 + 'a'", "1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^"),
        ("request.foo", "1:8: undefined field 'foo'\n | request.foo\n | .......^"),
        ("[1, 'a']", "1:5: expected type 'int' but found 'string'\n | [1, 'a']\n | ....^"),
        ("true &&\n  n", "1:6: found no matching overload for '_&&_' applied to '(bool, int)'\n | true &&\n | .....^"),
        (
            "n.all(x, true)",
            "1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)\n | n.all(x, true)\n | ^",
        ),
        ("has(n)", "1:5: invalid argument to has() macro\n | has(n)\n | ....^"),
    ],
)
def test_what_can_never_work_is_refused_with_its_place(environment, source, text):
    with pytest.raises(CompilationFailed) as caught:
        environment.compile(source)

    assert str(caught.value) == f"ERROR: <input>:{text}"


def test_work_beyond_the_limit_is_cut(environment):
    program = environment.compile("lists.range(1000).all(a, lists.range(1000).all(b, a + b >= 0))")

    with pytest.raises(CostExceeded):
        program.evaluate(NAMES, limit=10_000)


def test_a_pattern_that_would_explode_takes_linear_time(environment):
    program = environment.compile("object.text.matches('^(a+)+$')")

    assert not program.evaluate({"object": {"text": "a" * 5000 + "b"}})


def test_deep_nesting_is_refused_not_crashed(environment):
    with pytest.raises(CompilationFailed):
        environment.compile("(" * 2000 + "1" + ")" * 2000)


def test_a_compiled_expression_is_kept(environment):
    assert environment.compile("n + 1") is environment.compile("n + 1")


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("object.", ["1:8: Syntax error: no viable alternative at input '.'"]),
        ("a..b", ["1:3: Syntax error: no viable alternative at input '..'"]),
        ("../up", ["1:2: Syntax error: no viable alternative at input '..'"]),
        ("a.true", ["1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER"]),
        ("*", [
            f"1:1: Syntax error: mismatched input '*' expecting {{{STARTS}}}",
            f"1:2: Syntax error: mismatched input '<EOF>' expecting {{{STARTS}}}",
        ]),
        ("if (true) {}", [
            "1:1: reserved identifier: if",
            "1:11: Syntax error: mismatched input '{' expecting <EOF>",
        ]),
        (r"'\q' == 'x'", [
            r"1:1: Syntax error: token recognition error at: ''\q'",
            "1:10: Syntax error: extraneous input 'x' expecting <EOF>",
            "1:11: Syntax error: token recognition error at: '''",
        ]),
        ("", [f"1:0: Syntax error: mismatched input '<EOF>' expecting {{{STARTS}}}"]),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_as_antlr_tells_it(source, texts):
    with pytest.raises(CompilationFailed) as caught:
        parse(source)

    assert [line for line in str(caught.value).split("\n") if line.startswith("ERROR")] == [
        f"ERROR: <input>:{text}" for text in texts
    ]


@pytest.mark.parametrize("source", ["[" + ",".join(["[]"] * 7_000) + "]", "[" + ",".join(["{}"] * 7_000) + "]"])
def test_thousands_of_empty_literals_are_of_one_type(environment, source):
    assert len(environment.compile(source).evaluate(NAMES)) == 7_000


def test_a_hundred_errors_are_told_and_how_many_more_there_are(environment):
    with pytest.raises(CompilationFailed) as refused:
        environment.compile("@ " * 300)

    *told, rest = str(refused.value).split("\n")
    assert sum(line.startswith("ERROR: ") for line in told) < 101
    assert rest.endswith(" more errors were truncated")
    assert len(refused.value.issues) > 100


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000, "9" * 5000 + "u"])
def test_a_number_of_any_length_is_an_error_of_the_expression(environment, number):
    with pytest.raises(CompilationFailed, match=r"invalid u?int literal"):
        environment.compile(number)
