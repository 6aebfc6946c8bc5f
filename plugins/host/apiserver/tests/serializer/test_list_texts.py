"""Lists for people: in pieces the same text as in one, and no more of it in memory than a few pieces."""

import tracemalloc
from dataclasses import replace

import orjson
import pytest
from hyperkube_host.apiserver.serializer.list_pieces import EncodedItems, ListBody, whole_list
from hyperkube_host.apiserver.serializer.list_texts import FEW, INDENTED, YAML_TEXT, ListText

HEAD = {"kind": "WidgetList", "apiVersion": "example.com/v1", "metadata": {"resourceVersion": "7", "continue": "YQ"}}
SHAPES = [
    {}, {"a": {}}, {"a": []}, {"a": [[], {}, [[1, {"b": 2}]]]}, {"a": None, "b": True, "c": 1.5, "d": -3},
    {"text": "one\ntwo\n"}, {"text": "one\n\n"}, {"text": "\n"}, {"text": "  one\n two"}, {"text": "[\n  [\n    null\n  ]\n]"},
    {"text": "- null\n"}, {"items": [None]}, {"items": [{"items": [None, None]}]}, {"é": "\u2028"}, {"k" * 200: {"a": 1}},
    {"a b": "c: d", "": "", "null": "null", "x\ny": "#"}, {"z": {"y": {"x": {"w": ["v", ["u\nt"]]}}}},
]  # fmt: skip
FORMS = pytest.mark.parametrize("form", [INDENTED, YAML_TEXT], ids=["indented", "YAML"])


def listed(items, member="items"):
    return ListBody(orjson.dumps(HEAD)[:-1] + b',"%s":[' % member.encode(), EncodedItems(items, orjson.dumps), b"]}\n")


@FORMS
@pytest.mark.parametrize("member", ["items", "rows"])
@pytest.mark.parametrize("step", [1, 100, 1 << 20])
@pytest.mark.parametrize("items", [SHAPES, [], SHAPES[:1], *([shape, shape] for shape in SHAPES)], ids=len)
def test_the_text_is_that_of_the_whole(form, member, step, items):
    pieces = ListText(listed(items, member), replace(form, step=step))._pieces()

    assert b"".join(pieces) == form.whole({**HEAD, member: items})


@FORMS
def test_each_item_may_be_a_piece(form):
    pieces = list(ListText(listed(SHAPES), replace(form, step=1))._pieces())

    assert len(pieces) == len(SHAPES) + 1


@FORMS
def test_what_is_a_whole_already_stays_one(form):
    body = whole_list(orjson.dumps({**HEAD, "items": SHAPES}))

    assert ListText(body, form).encoded() == form.whole({**HEAD, "items": SHAPES})


@FORMS
def test_few_pieces_are_sent_as_one(form):
    form = replace(form, step=1)

    assert ListText(listed(SHAPES[: FEW - 1]), form).encoded() == form.whole({**HEAD, "items": SHAPES[: FEW - 1]})
    assert b"".join(ListText(listed(SHAPES[:FEW]), form).encoded()) == form.whole({**HEAD, "items": SHAPES[:FEW]})
    assert not isinstance(ListText(listed(SHAPES[:FEW]), form).encoded(), bytes)


@FORMS
def test_no_more_is_held_than_a_few_pieces(form):
    def made(number):
        return orjson.dumps({"metadata": {"name": f"w{number}"}, "data": {f"k{key}": "x" * 500 for key in range(8)}})

    form, most, total = replace(form, step=16 << 10), 0, 0
    body = listed(())
    body.items = EncodedItems(range(1000), made)
    tracemalloc.start()
    try:
        for piece in ListText(body, form).encoded():
            most, total = max(most, len(piece)), total + len(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert total > 4_000_000
    assert most < 40 << 10
    assert peak < 1 << 20
