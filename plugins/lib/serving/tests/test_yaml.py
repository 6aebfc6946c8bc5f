"""YAML as go-yaml v2 writes it."""

import pytest
from hyperkube_lib.serving.yaml import _emitted, dumps

TEXTS = [
    "", "a", "a b", "a  b", "a: b", "a:b", "a::b", "a:", "a #b", "a#b", "#a", " a", "a ", "- a", "-a", "-", "?", "? a", "?a",
    ":a", ": a", ",a", "[a", "]a", "{a", "}a", "&a", "*a", "!a", "|a", ">a", "'a", '"a', "%a", "@a", "`a", "a'b", 'a"b', "\\",
    "---", "--- a", "...", "...a", ".a", "~a", "=", "<<", "<a", "a\tb", "a\x7f", "é", "日本 語", "é: é", "\U0001f600", "\ufeff",
    "a\nb", "a\n", "a\n\n", "\n", "\n\n", " a\nb", "  a\n   b\n", "a \nb", "a\n b\n\n\n  c", "a\r\nb", "\u2028a", "a\x85b",
    "null", "~", "yes", "off", "Y", "True", "1", "-1", "0x1f", "1_000", "1e5", ".5", "+.inf", "0o7", "1.2.3", "1/2", "10Gi",
    "2026-01-02T03:04:05Z", "2026-01-02", "2026-13-02", "1:30", "a" * 300, "a b" * 300, '{"a": [1, "b"]}\n', '{"a":"b"}',
]  # fmt: skip
"""What has to be quoted, what need not be, and what is in between."""


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_what_is_written_line_by_line_is_what_libyaml_writes(text):
    shapes = (
        {"k": text}, {text: 1}, {text: {text: [text]}}, [text], [[text], [[text, {"k": text}]]], {"k": [{"a": text, "b": text}]},
        {"a": {"b": {"c": [{"d": text}]}}, "z": text},
    )  # fmt: skip

    for shape in shapes:
        assert dumps(shape) == _emitted(shape)


def test_the_lines_of_a_text_are_indented_as_far_as_it_is_deep():
    text = dumps({"a": {"b": ["one\n\n  two\n", {"c": "three\nfour"}]}, "z": 1})

    assert text.decode() == "a:\n  b:\n  - |\n    one\n\n      two\n  - c: |-\n      three\n      four\nz: 1\n"


def test_text_that_would_be_read_as_something_else_is_quoted():
    written = dumps(
        {"name": "y", "msg": "a\n\nb", "n": 5, "l": [{"b": {}}], "t": True, "s": "a: b", "e": "", "z": None, "i": []}
    )

    assert written.decode() == (
        'e: ""\ni: []\nl:\n- b: {}\nmsg: |-\n  a\n\n  b\n"n": 5\nname: "y"\ns: \'a: b\'\nt: true\nz: null\n'
    )


@pytest.mark.parametrize("text", [
    "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456+02:00", "2026-1-2t3:4:5Z", "2026-01-02 03:04:05.5", "2026-01-02",
    "1:30", "-12:30:45", "12:30:45.6", "<<", "18446744073709551616",
])  # fmt: skip
def test_times_and_what_yaml_1_1_takes_for_numbers_are_quoted(text):
    assert dumps({"a": text}) == f'a: "{text}"\n'.encode()


@pytest.mark.parametrize(
    "text", ["2026-13-02", "2026-01-02T03:04:05", "26-01-02", "2026-01-02T25:00:00Z", "1:60", "a1:30"]
)
def test_what_looks_like_a_time_is_not_quoted(text):
    assert dumps({"a": text}) == f"a: {text}\n".encode()


@pytest.mark.parametrize(("value", "text"), [
    (1.0, "1"), (1e6, "1000000"), (-0.0, "0"), (1e19, "10000000000000000000"), (1e20, "1e+20"), (0.5, "0.5"), (1e-5, "1e-05"),
    (100000.5, "100000.5"), (1234567.5, "1.2345675e+06"), (-1234567.5, "-1.2345675e+06"), (1.5e300, "1.5e+300"), (2**63, str(2**63)),
])  # fmt: skip
def test_numbers_are_written_as_go_writes_what_it_reads_from_json(value, text):
    assert dumps({"a": value}) == f"a: {text}\n".encode()


def test_keys_are_in_their_natural_order():
    keys = ["a10", "a2", "a02", "a", "B", "b", "_c", "AB", "A_B", ".", "f:a", "k:{}", "a1.", "é", "a100", "a1001"]

    written = dumps(dict.fromkeys(keys, 1)).decode().splitlines()

    assert [line.rpartition(":")[0].strip("'\"") for line in written] == [
        ".", "_c", "A_B", "AB", "B", "a", "a1.", "a2", "a02", "a10", "a100", "a1001", "b", "f:a", "k:{}", "é",
    ]  # fmt: skip


def test_zeros_within_a_number_count():
    assert dumps({"a100": 1, "a10": 1, "a101": 1, "a1009": 1}) == b"a10: 1\na100: 1\na101: 1\na1009: 1\n"


def test_a_key_that_does_not_fit_before_a_colon_has_a_line_of_its_own():
    assert dumps({"k" * 129: 1, "a\nb": [2]}) == b"? |-\n  a\n  b\n: - 2\n? " + b"k" * 129 + b"\n: 1\n"
    assert dumps({"k" * 128: 1}) == b"k" * 128 + b": 1\n"


def test_no_mark_ends_a_text_that_ends_with_empty_lines():
    assert dumps({"a": "x\n\n"}) == b"a: |+\n  x\n\n"


def test_what_is_no_json_is_refused():
    with pytest.raises(TypeError, match="a set is no JSON"):
        dumps({"a": {1}})
