"""Selectors select what Kubernetes' select and complain in its words."""

import pytest

from hyperkube.machinery.labels import (
    EVERYTHING,
    NOTHING,
    SelectorError,
    from_label_selector,
    from_node_selector_expressions,
    parse_selector,
    selector_from_map,
)

LABELS = {"app": "web", "tier": "a", "n": "5"}


SELECTED = [
    ("", True),
    ("app=web", True),
    ("app==web", True),
    ("app!=web", False),
    ("other!=web", True),
    ("app in (web,db)", True),
    ("app notin (web, db)", False),
    ("other notin (x)", True),
    ("app", True),
    ("!app", False),
    ("!other", True),
    ("n>4", True),
    ("n<5", False),
    ("app>1", False),
    ("app=web,tier in (a),!canary", True),
    (" app = web , tier in ( b ) ", False),
    ("other=", False),
    ("in in (in)", False),
]


@pytest.mark.parametrize(("text", "selected"), SELECTED)
def test_a_text_selects(text, selected):
    assert parse_selector(text).matches(LABELS) is selected


@pytest.mark.parametrize(("text", "selected"), SELECTED)
def test_a_long_text_selects_the_same(text, selected):
    padding = ",".join(f"padding!=x{number}" for number in range(20))

    assert parse_selector(f"{text},{padding}" if text else padding).matches(LABELS) is selected


@pytest.mark.parametrize(("texts", "selected"), [
    (["app in (web,x{})"], True),
    (["app in (web,x{})", "app in (x{})"], False),
    (["app", "app!=x{}"], True),
    (["app!=x{}", "app!=web"], False),
    (["app notin (x{},y)", "!app"], False),
    (["!x{}"], True),
    (["x{}"], False),
    (["n>1", "n>{}", "n<40", "n>4"], False),
    (["n>0", "n<4{}", "n>4"], True),
    (["n<7{}", "n<6", "n<99"], True),
    (["app>{}"], False),
    (["app=web", "app==web", "app in (web)", "app"], True),
], ids=str)  # fmt: skip
def test_many_terms_hold_all_at_once(texts, selected):
    selector = parse_selector(",".join(text.format(number) for number in range(20) for text in texts))

    assert len(selector.requirements) == 20 * len(texts)
    assert selector.matches(LABELS) is selected
    for labels in (LABELS, {}, {"app": "db"}):
        assert all(each.matches(labels) for each in selector.requirements) is selector.matches(labels)


def test_an_empty_value_is_a_value():
    assert parse_selector("x=").matches({"x": ""})
    assert parse_selector("x in (,a)").matches({"x": ""})
    assert parse_selector("x in ()").matches({"x": ""})


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("b=1,a in (y,x)", "a in (x,y),b=1"),
        ("!z", "!z"),
        ("k", "k"),
        ("a==1,b!=2,c>3,d<4,e notin (q)", "a==1,b!=2,c>3,d<4,e notin (q)"),
        ("a in (y,,x)", "a in (,x,y)"),
    ],
)
def test_a_selector_is_written_sorted(text, written):
    assert str(parse_selector(text)) == written


KEY = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x=1,", "found '', expected: identifier after ','"),
        (",", "found ',', expected: !, identifier, or 'end of string'"),
        ("x=1 y=2", "found 'y', expected: ',' or 'end of string'"),
        ("x in (1", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("=1", "found '=', expected: !, identifier, or 'end of string'"),
        ("x~1", f'unable to parse requirement: <nil>: Invalid value: "x~1": {KEY}'),
        ("/x=1", 'unable to parse requirement: <nil>: Invalid value: "/x": prefix part must be non-empty'),
        ("x gt 1", "unable to parse requirement: found 'gt', expected: in, notin, =, ==, !=, gt, lt"),
        (
            "x>a",
            (
                'unable to parse requirement: values[0]: Invalid value: "a": '
                "for 'Gt', 'Lt' operators, the value must be an integer"
            ),
        ),
        (
            "x=" + "v" * 64,
            f'unable to parse requirement: values[0][x]: Invalid value: "{"v" * 64}": must be no more than 63 bytes',
        ),
        ("x in 1", "unable to parse requirement: found '1' expected: '('"),
        ("x=(", "unable to parse requirement: found '(', expected: identifier"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
    ],
)
def test_a_bad_text_is_refused_in_kubernetes_words(text, message):
    with pytest.raises(SelectorError) as caught:
        parse_selector(text)

    assert str(caught.value) == message


def test_no_object_selects_nothing_and_an_empty_one_everything():
    assert from_label_selector(None) is NOTHING
    assert not NOTHING.matches({})
    assert from_label_selector({}).is_empty
    assert EVERYTHING.matches(None)


def test_an_object_selects():
    selector = from_label_selector(
        {
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "tier", "operator": "In", "values": ["a", "b"]},
                {"key": "canary", "operator": "DoesNotExist"},
            ],
        }
    )

    assert selector.matches(LABELS)
    assert not selector.matches({**LABELS, "canary": ""})
    assert str(selector) == "app=web,!canary,tier in (a,b)"


def test_an_unknown_operator_is_refused():
    with pytest.raises(SelectorError, match='"Is" is not a valid label selector operator'):
        from_label_selector({"matchExpressions": [{"key": "a", "operator": "Is"}]})


def test_node_selectors_compare_numbers():
    assert from_node_selector_expressions([{"key": "n", "operator": "Gt", "values": ["4"]}]).matches(LABELS)


def test_a_map_pins_its_labels():
    selector = selector_from_map({"b": "2", "a": "1"})

    assert str(selector) == "a=1,b=2"
    assert (selector.exact("a"), selector.exact("c")) == ("1", None)
