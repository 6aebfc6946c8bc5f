"""Among which objects a watch finds those that it begins with."""

import pytest
from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.object_table import ObjectTable, by_field
from hyperkube_lib.watch_cache.watchers import Scope

PODS, NODES = "/registry/pods/", "/registry/minions/"


def objects(prefix, *keys, node=""):
    return [CachedObject(prefix + key, 1, b"{}", fields={"spec.nodeName": node}) for key in keys]


@pytest.mark.parametrize(
    ("prefix", "keys", "scope", "found"),
    [
        (PODS, ["a/x", "a/xy", "b/x"], Scope("a", "x"), ["a/x"]),
        (PODS, ["a/x", "a/xy", "b/x"], Scope("a", "y"), []),
        (PODS, ["a/x", "a-b/x", "b/x"], Scope("a"), ["a/x"]),
        (PODS, ["a/x", "a/y", "b/x"], Scope("", "x"), ["a/x", "a/y", "b/x"]),
        (PODS, ["a/x", "b/x"], Scope(), ["a/x", "b/x"]),
        (NODES, ["n1", "n2", "n3"], Scope("", "n2"), ["n2"]),
        (NODES, ["n1", "n2", "n3"], Scope("", "n4"), []),
        (NODES, [], Scope("", "n4"), []),
        (NODES, ["n1", "n2"], Scope(), ["n1", "n2"]),
    ],
    ids=[
        "a name in a namespace", "a name that is not there", "a namespace", "a name in all namespaces", "all",
        "a name of what has no namespaces", "one that is not there", "one where there is nothing", "all that have none",
    ],
)  # fmt: skip
def test_a_scope_is_looked_for_where_it_can_be(prefix, keys, scope, found):
    table = ObjectTable({}, objects(prefix, *keys))

    assert [obj.key for obj in table.in_scope(prefix, scope)] == [prefix + key for key in found]


def test_an_index_narrows_a_scope():
    here, there = objects(PODS, "a/x", "b/x", node="n1"), objects(PODS, "a/y", node="n2")
    table = ObjectTable({"spec.nodeName": by_field("spec.nodeName")}, [*here, *there])

    found = table.in_scope(PODS, Scope(indexed=("spec.nodeName", "n1")))

    assert list(found) == here
