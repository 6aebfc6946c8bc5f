import pytest

from hyperkube.machinery.fields import FieldSelectorError, MemberText, escape_value, parse_field_selector, texts_of


def test_terms_must_all_hold():
    selector = parse_field_selector("spec.nodeName=n,status.phase!=Running,")

    assert selector.matches({"spec.nodeName": "n", "status.phase": "Pending"})
    assert not selector.matches({"spec.nodeName": "n", "status.phase": "Running"})
    assert selector.exact("spec.nodeName") == "n"
    assert selector.exact("status.phase") is None


def test_a_missing_field_counts_as_empty():
    assert parse_field_selector("spec.nodeName=").matches({})


@pytest.mark.parametrize("value", ["a,b", "a=b", "a\\b", "\\,="])
def test_escaped_values_come_back(value):
    selector = parse_field_selector(f"x={escape_value(value)},y=1")

    assert selector.exact("x") == value
    assert parse_field_selector(str(selector)) == selector


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metadata.name in (a)", "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'"),
        ("a=b\\c", "invalid field selector: invalid escape sequence: \\c"),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
    ],
)
def test_a_bad_text_is_refused_in_kubernetes_words(text, message):
    with pytest.raises(FieldSelectorError) as caught:
        parse_field_selector(text)

    assert str(caught.value) == message


def test_fields_can_be_renamed():
    changed = parse_field_selector("a!=1").transform(lambda field, value: (f"x.{field}", value + value))

    assert str(changed) == "x.a!=11"


MEMBERS = pytest.mark.parametrize(
    ("obj", "path", "text"),
    [
        ({"a": {"b": True}}, "a.b", "true"),
        ({"a": {"b": False}}, "a.b", "false"),
        ({}, "a.b", ""),
        ({"a": 3}, "a", "3"),
        ({"a": {"b": 0}}, "a.b", "0"),
        ({"a": {"b": None}}, "a.b", ""),
        ({"a": "x"}, "a.b", ""),
        ({"a": None}, "a.b", ""),
        ({"a": {"b": {"c": "x"}}}, "a.b.c", "x"),
    ],
)


@MEMBERS
def test_a_field_selector_reads_text(obj, path, text):
    assert MemberText(path)(obj) == text


@MEMBERS
def test_all_fields_read_at_once_are_what_each_reads(obj, path, text):
    readers = {"x": MemberText(path), "y": MemberText(path, "none"), "z": lambda obj: str(len(obj))}

    assert texts_of(readers)(obj) == {"x": text, "y": text or "none", "z": str(len(obj))}
