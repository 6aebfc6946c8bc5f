"""YAML means what go-yaml takes it for, and is written as sigs.k8s.io/yaml writes it."""

import pytest

from hyperkube.machinery.codecs import yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y", True), ("on", True), ("No", False), ("~", None), ("", None), ("null", None),
        ("0644", 420), ("0x1F", 31), ("0b11", 3), ("0o17", 15), ("1_000", 1000), ("-5", -5), ("1e3", 1000), ("1.5", 1.5),
        ("1:30", "1:30"), ("2001-01-01", "2001-01-01"), ("5m", "5m"), ("'5'", "5"), ('"yes"', "yes"), ("!!str 5", "5"),
        ("!!float 5", 5), ("08", 8),
    ],
)  # fmt: skip
def test_plain_scalars_mean_what_they_mean_to_go_yaml(text, value):
    assert yaml.loads(f"a: {text}".encode()) == ({"a": value}, [])


def test_keys_become_text_and_anchors_and_merges_are_resolved():
    body = b"1: a\ntrue: b\nx: &x {k: 1, l: 1}\ny2:\n  <<: *x\n  l: 2\n"

    assert yaml.loads(body)[0] == {"1": "a", "true": "b", "x": {"k": 1, "l": 1}, "y2": {"l": 2, "k": 1}}


def test_the_last_of_duplicate_keys_counts_and_its_line_is_told():
    assert yaml.loads(b"foo: bar\nfoo: baz\n") == ({"foo": "baz"}, ['line 2: key "foo" already set in map'])


def test_only_the_first_document_is_read():
    assert yaml.loads(b"a: 1\n---\nb: 2\n")[0] == {"a": 1}
    assert yaml.loads(b"")[0] is None


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"a: [", "yaml: line 1: did not find expected node content"),
        (b"a: b: c", "yaml: mapping values are not allowed in this context"),
        (b"a: .inf", "json: unsupported value: +Inf"),
        (b"? [a]\n: b", "yaml: invalid map key"),
        (b"a: v1\n\tb: c\n", "yaml: line 2: found a tab character that violates indentation"),
        (b'{"a":"b"', "yaml: line 1: did not find expected ',' or '}'"),
        (b"a:\n  - b\n c: d\n", "yaml: line 2: did not find expected key"),
        (b"a: *x", "yaml: unknown anchor 'x' referenced"),
        (b"a: !!binary aaa", "yaml: !!binary value contains invalid base64 data"),
        (b"data:\n  null: x\n", 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"'),
        (
            b"~: [1, true, {b: 1.5}]",
            "unsupported map key of type: %!s(<nil>), key: <nil>, value: []interface {}{1, true,",
        ),
    ],
)
def test_what_cannot_be_json_is_refused(body, text):
    with pytest.raises(yaml.YamlError) as refusal:
        yaml.loads(body)

    assert str(refusal.value).startswith(text)


@pytest.mark.parametrize(
    "body",
    ["[" * 50_000 + "]" * 50_000, '{"a":' * 50_000 + "1" + "}" * 50_000, "- " * 50_000, "a: " + "[" * 1_200, "[" * 700 + "]" * 700],
    ids=["lists", "maps", "blocks", "unfinished", "deeper than we read"],
)  # fmt: skip
def test_a_bottomless_document_is_refused_and_ends_nothing(body):
    with pytest.raises(yaml.YamlError, match="exceeded max depth"):
        yaml.loads(body.encode())


def test_a_document_that_aliases_would_blow_up_is_refused():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]

    with pytest.raises(yaml.YamlError, match="document contains excessive aliasing"):
        yaml.loads("\n".join(lines).encode())


@pytest.mark.parametrize("text", [
    "a: &a " + "x" * 100_000 + "\nb: [" + "*a," * 2000 + "]",
    "{? &a " + "x" * 100_000 + " : {}, b: [" + "{*a : 1}," * 2000 + "]}",
], ids=["values", "keys"])  # fmt: skip
def test_a_long_text_that_aliases_would_repeat_is_refused(text):
    with pytest.raises(yaml.YamlError, match="document contains excessive aliasing"):
        yaml.loads(text.encode())


def test_a_long_key_is_told_a_bounded_number_of_times():
    _, duplicates = yaml.loads(("{? &a " + "x" * 100_000 + " : 1," + "*a : 1," * 2000 + "}").encode())

    assert 0 < sum(map(len, duplicates)) < 2_000_000


def test_many_directives_are_refused():
    with pytest.raises(yaml.YamlError, match="too many directives"):
        yaml.loads("".join(f"%TAG !a{number}! x\n" for number in range(200)).encode() + b"---\na: 1\n")


def test_an_anchor_inside_itself_is_refused():
    with pytest.raises(yaml.YamlError, match="contains itself"):
        yaml.loads(b"a: &a [*a]")
