"""The graph of owners: what it holds after each event, and what it remembers to be gone.

The cases are those of kubernetes ``garbagecollector_test.go``, ``TestProcessEvent`` and ``TestAbsentOwnerCache``.
"""

import pytest
from gc_world import obj
from hyperkube_controller.garbagecollector.graph import Graph, Node, are_alike

from hyperkube.kinds.resources import PODS, REPLICATION_CONTROLLERS


def pod(uid, *owners):
    return Node.of(PODS, obj("Pod", uid, *({"uid": owner} for owner in owners), uid=uid))


def links(graph, *uids):
    """Return who names each uid as its owner."""
    return {uid: {node.uid for node in graph.dependents(uid)} for uid in uids}


@pytest.mark.parametrize(
    ("events", "dependents"),
    [
        ([("1",), ("2", "1"), ("3", "1", "2")], {"1": {"2", "3"}, "2": {"3"}, "3": set()}),
        ([("1",), ("2", "1"), ("3", "1", "2"), ("4", "2"), "2"], {"1": {"3"}, "2": {"3", "4"}}),
        (
            [("1",), ("2", "1"), ("3", "1", "2"), ("4", "3"), ("2", "4")],
            {"1": {"3"}, "2": {"3"}, "3": {"4"}, "4": {"2"}},
        ),
        ([("4", "2"), ("3", "1", "2"), ("2", "1"), ("1",), "2"], {"1": {"3"}, "2": {"3", "4"}}),
    ],
    ids=["three", "an owner goes", "an owner gets another owner", "children first"],
)
def test_owners_and_dependents_agree_after_each_event(events, dependents):
    graph = Graph()

    for event in events:
        if isinstance(event, str):
            graph.remove(event)
        else:
            graph.put(pod(*event))

    assert links(graph, *dependents) == dependents


def identity(uid):
    return (uid, REPLICATION_CONTROLLERS.group_resource, "ns1", f"rc{uid}")


def test_the_absent_owner_that_was_asked_for_last_is_remembered_longest():
    graph = Graph(absent_kept=2)
    for uid in ("1", "2"):
        graph.note_absent(identity(uid))
    graph.is_absent(identity("1"))

    graph.note_absent(identity("3"))

    assert [graph.is_absent(identity(uid)) for uid in ("1", "2", "3")] == [True, False, True]


def test_one_that_was_deleted_is_absent_until_it_is_seen_again():
    graph = Graph()
    node = pod("1")
    graph.put(node)

    graph.remove("1")
    assert graph.is_absent(node.identity)
    graph.put(node)
    assert not graph.is_absent(node.identity)
    graph.remove("1", is_gone=False)

    assert not graph.is_absent(node.identity)


OWNER = {"apiVersion": "v1", "kind": "ReplicationController", "name": "o", "uid": "o"}


@pytest.mark.parametrize(
    ("changed", "is_alike"),
    [
        pytest.param({"resourceVersion": "2", "labels": {"a": "b"}}, True, id="labels"),
        pytest.param({"uid": "q"}, False, id="made again"),
        pytest.param({"ownerReferences": []}, False, id="set free"),
        pytest.param({"ownerReferences": [{**OWNER, "blockOwnerDeletion": True}]}, False, id="another reference"),
        pytest.param({"finalizers": ["orphan"]}, False, id="a finalizer"),
        pytest.param({"deletionTimestamp": "2030-01-01T00:00:00Z"}, False, id="being deleted"),
    ],
)
def test_a_change_of_what_the_node_holds_is_no_likeness(changed, is_alike):
    meta = {"name": "p", "namespace": "d", "uid": "p", "resourceVersion": "1", "ownerReferences": [OWNER]}
    before, after = ({"kind": "Pod", "metadata": own} for own in (meta, {**meta, **changed}))

    assert are_alike(before, after) is is_alike
    assert (Node.of(PODS, before) == Node.of(PODS, after)) is is_alike


def test_what_is_known_to_be_gone_is_looked_for_again_after_it_was_forgotten():
    graph = Graph()
    graph.note_absent(identity("1"))

    graph.forget()

    assert not graph.is_absent(identity("1"))
