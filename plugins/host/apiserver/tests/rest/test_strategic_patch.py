import sys
from random import Random

import orjson
import pytest
from hyperkube_host.apiserver.rest import strategic_patch
from hyperkube_host.apiserver.rest.strategic_patch import apply_strategic_patch

from hyperkube.machinery.errors import ApiError, BadRequest

A, B, C = {"port": 1, "name": "a"}, {"port": 2, "name": "b"}, {"port": 3, "name": "c"}


def patched(thing, spec, patch):
    return apply_strategic_patch({"spec": spec}, {"spec": patch}, thing.type)["spec"]


@pytest.mark.parametrize(
    ("spec", "patch", "expected"),
    [
        ({"ports": [A, B]}, {"ports": [{"port": 2, "name": "z"}]}, {"ports": [A, {"port": 2, "name": "z"}]}),
        ({"ports": [A]}, {"ports": [C]}, {"ports": [C, A]}),
        ({"ports": [A, B]}, {"ports": [{"port": 1, "$patch": "delete"}]}, {"ports": [B]}),
        ({"ports": [A, B]}, {"ports": [{"$patch": "replace"}, C]}, {"ports": [C]}),
        ({"ports": [A, B]}, {"$setElementOrder/ports": [{"port": 2}, {"port": 1}]}, {"ports": [B, A]}),
        ({"finalizers": ["x", "y"]}, {"finalizers": ["z", "x"]}, {"finalizers": ["z", "x", "y"]}),
        ({"finalizers": ["x", "y"]}, {"$deleteFromPrimitiveList/finalizers": ["x"]}, {"finalizers": ["y"]}),
        ({"args": ["x", "y"]}, {"args": ["z"]}, {"args": ["z"]}),
        ({"args": [A]}, {"args": [{"name": "a", "$patch": "delete"}]}, {"args": [{"name": "a", "$patch": "delete"}]}),
        (
            {"strategy": {"labels": {"a": "b"}, "x": 1}},
            {"strategy": {"$retainKeys": ["x"], "x": 2}},
            {"strategy": {"x": 2}},
        ),
        ({"selector": {"a": 1, "b": 2}}, {"selector": {"$patch": "replace", "c": 3}}, {"selector": {"c": 3}}),
        ({"selector": {"a": 1}}, {"selector": {"$patch": "delete"}}, {"selector": {}}),
        ({}, {"ports": [{"port": 1, "$patch": "delete"}], "replicas": None}, {"ports": []}),
        ({"replicas": 1}, {"replicas": None}, {}),
    ],
)
def test_lists_and_objects_merge_by_the_rules_of_their_type(thing, spec, patch, expected):
    before = repr((spec, patch))

    assert patched(thing, spec, patch) == expected
    assert repr((spec, patch)) == before


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        ({"$patch": "explode"}, 500, "unknown patch type: explode in map: map[$patch:explode]"),
        ({"ports": [{"name": "x"}]}, 500, "map: map[name:x] does not contain declared merge key: port"),
        ({"ports": [[1]]}, 422, "the server rejected our request due to an error in our request"),
        ({"strategy": {"$retainKeys": ["a"], "b": 1}}, 400, "invalid patch format of retainKeys"),
        ({"$setElementOrder/ports": "x"}, 500, "expected a []interface {}, but received a string"),
        (
            {"$setElementOrder/ports": [{"port": 2}], "ports": [C]},
            500,
            "The order in patch list:\n[map[name:c port:3]]\n doesn't match $setElementOrder list:\n[map[port:2]]\n",
        ),
    ],
)
def test_a_contradiction_is_refused_in_kubernetes_words(thing, patch, code, message):
    with pytest.raises(ApiError) as caught:
        patched(thing, {"ports": [A], "strategy": {"a": 1}}, patch)

    assert (caught.value.status_code, caught.value.message) == (code, message)


def test_a_patch_must_be_an_object(thing):
    with pytest.raises(BadRequest, match=r"^json: cannot unmarshal array into Go value of type map"):
        apply_strategic_patch({}, [], thing.type)


def test_without_a_type_lists_are_replaced():
    assert apply_strategic_patch({"l": [1, 2], "m": {"a": 1}}, {"l": [3], "m": {"b": 2}}, None) == {
        "l": [3],
        "m": {"a": 1, "b": 2},
    }


def test_a_deletion_from_a_list_that_is_no_list_does_nothing(thing):
    spec = {"finalizers": ["x"]}

    assert patched(thing, spec, {"$deleteFromPrimitiveList/finalizers": "x"}) == spec


def test_a_directive_that_is_no_text_is_shown_as_go_shows_one(thing):
    with pytest.raises(ApiError, match=r"unknown patch type: %!s\(int64=5\) in map: map\[\$patch:5\]"):
        apply_strategic_patch({}, {"$patch": 5}, thing.type)


MEMBERS = {"protocol": ["TCP", "UDP", None], "name": ["a", "b", None, {"c": 1}], "more": [1, None, [1]]}


def some_ports(random, most):
    """Return items with keys of few kinds, now and then without one, or twice the same."""
    return [
        {"port": random.choice(["80", "81", "82", 80, None])}
        if random.random() < 0.9
        else {} | {name: random.choice(values) for name, values in MEMBERS.items() if random.random() < 0.5}
        for _ in range(random.randrange(most + 1))
    ]


@pytest.mark.parametrize("seed", range(300))
def test_short_cuts_come_to_what_the_rules_say(thing, monkeypatch, seed):
    random = Random(seed)
    live, patch = some_ports(random, 4), some_ports(random, 4)
    if random.random() < 0.1:
        patch = [*patch, {"$patch": "delete", "port": "80"}]
    document = {"spec": {"ports": live, "replicas": 1}}
    change = {"spec": {"ports": patch, **random.choice([{}, {"replicas": None}, {"replicas": 2, "$retainKeys": []}])}}

    short = outcome(document, change, thing.type)
    monkeypatch.setattr(strategic_patch, "_MERGED", frozenset({dict, list, str, int, type(None)}))
    monkeypatch.setattr(strategic_patch, "_merged_in_place", lambda *_: None)

    assert short == outcome(document, change, thing.type)


def outcome(document, patch, info):
    try:
        return orjson.dumps(apply_strategic_patch(document, patch, info))
    except ApiError as error:
        return type(error), error.message


def test_an_item_that_is_named_again_and_again_is_copied_once(thing):
    item = {"port": 1, **{f"member{number}": number for number in range(100)}}
    patch = {"ports": [{"port": 1, "name": "a"}, {"port": 1, "name": "b", "more": {"x": 1}}] * 50}
    copies = 0

    def count(_frame, event, function):
        nonlocal copies
        copies += event == "c_call" and function.__name__ == "copy"

    sys.setprofile(count)
    try:
        merged = patched(thing, {"ports": [item]}, patch)
    finally:
        sys.setprofile(None)

    assert merged == {"ports": [{**item, "name": "b", "more": {"x": 1}}]}
    assert "name" not in item
    assert copies < 10
