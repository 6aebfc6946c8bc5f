"""Custom resources near the limits cost what they weigh, whatever their definition makes of their lists."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import Call, Hostile, World, quickly

from hyperkube.testing.waiting import eventually

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BOXES = "/apis/lists.example.com/v1/namespaces/a/boxes"
COUNT = 3000
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
TEXT = {"type": "string", "maxLength": 20}
SPEC = {
    "map": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["key"],
        "items": {"type": "object", "required": ["key"], "properties": {"key": TEXT, "value": TEXT}},
    },
    "plain": {"type": "array", "items": {"type": "object", "properties": {"key": TEXT, "value": TEXT}}},
    "deep": {
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "object", "properties": {"key": TEXT}}},
    },
    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("custom-resources"))
    yield Hostile(world)
    world.close()


def definition(plural, kind, **properties):
    schema = {"type": "object", "properties": {"spec": {"type": "object"}, **properties}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {
        "group": "lists.example.com",
        "scope": "Namespaced",
        "names": {"plural": plural, "kind": kind},
        "versions": [version],
    }
    return {"metadata": {"name": f"{plural}.lists.example.com"}, "spec": spec}


@pytest.fixture(scope="module")
def boxes(hostile):
    hostile.ask("POST", DEFINITIONS, definition("boxes", "Box", spec={"type": "object", "properties": SPEC}))
    eventually(lambda: hostile.world.ask(Call("admin", "GET", BOXES)).status == 200, 60)
    return BOXES


def box(name, **spec):
    return {"apiVersion": "lists.example.com/v1", "kind": "Box", "metadata": {"name": name}, "spec": spec}


def items(of):
    keys = (f"k{number}" for number in range(COUNT))
    return list(keys) if of == "set" else [{"key": key, "value": "v"} for key in keys]


@pytest.mark.parametrize("of", ["map", "plain", "set"])
def test_a_change_beside_a_list_compares_each_item_once(hostile, boxes, of):
    made, answer = hostile.ask("POST", boxes, box(of, **{of: items(of)}))
    assert made == 201, answer

    status, _ = quickly(lambda: hostile.ask("PATCH", f"{boxes}/{of}", {"metadata": {"labels": {"a": "b"}}}, MERGE))

    assert status == 200


def test_a_list_that_is_a_map_is_applied_again_at_the_cost_of_its_items(hostile, boxes):
    applied = box("applied", map=items("map"))
    path = f"{boxes}/applied?fieldManager=me"

    for wanted in (201, 200):
        status, answer = quickly(lambda: hostile.ask("PATCH", path, applied, APPLY))
        assert status == wanted, answer


@pytest.mark.parametrize("wrong", ["unknown", "duplicate", "type"])
def test_what_lies_below_a_long_key_costs_no_more_than_elsewhere(hostile, boxes, wrong):
    odd = {"unknown": '{"x":1}', "duplicate": '{"key":"a","key":"b"}', "type": "1"}[wrong]
    below = ",".join(['{"key":"a"}'] * 8_000 + [odd] * 2_000)
    body = f'{{"apiVersion":"lists.example.com/v1","kind":"Box","metadata":{{"name":"deep"}},"spec":{{"deep":{{"{"k" * 700_000}":[{below}]}}}}}}'.encode()

    status, answer = quickly(lambda: hostile.ask("POST", f"{boxes}?fieldValidation=Strict", body))

    assert status == 422 if wrong == "type" else 400, answer
    assert len(answer["message"]) < 8_000_000


def test_an_applied_list_is_refused_with_a_thousand_errors(hostile, boxes):
    applied = box("deep", deep={"k" * 1_000: [{"key": "a"}] * 8_000 + [{"x": 1}] * 8_000})

    status, answer = quickly(lambda: hostile.ask("PATCH", f"{boxes}/deep?fieldManager=me", applied, APPLY))

    assert status == 500, (answer["message"][:150], answer["message"][-300:])
    assert answer["message"].count("field not declared in schema") == 1000


def test_enumerations_of_anything_leave_the_description_of_a_group_readable(hostile):
    values = [{"a": 1}, [1], 1, 1.5, True, None, "a"]
    anything = {"x-kubernetes-preserve-unknown-fields": True, "nullable": True}
    properties = {f"v{number}": {**anything, "enum": [value]} for number, value in enumerate(values)}
    made = definition("odds", "Odd", spec={"type": "object", "properties": properties}, **properties)

    status, answer = hostile.ask("POST", DEFINITIONS, made)

    assert status == 201, answer
    path = "/openapi/v3/apis/lists.example.com/v1"
    eventually(lambda: b".Odd" in hostile.world.ask(Call("admin", "GET", path)).body, 60)
