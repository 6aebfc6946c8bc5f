"""What objects cost in memory beyond their bodies: counted by the interpreter, so that nothing else on a machine matters."""

import secrets
import tracemalloc
from contextlib import contextmanager

import orjson
from hyperkube_lib.watch_cache.cached_object import read_object
from hyperkube_lib.watch_cache.event_history import STEP_SECONDS, HistoryLimits
from hyperkube_lib.watch_cache.object_table import by_owner
from hyperkube_lib.watch_cache.resource_cache import ResourceCache

from hyperkube.machinery.clock import FakeClock
from hyperkube.storage.store import KeyValue, RangeResult, StoreEvent

COUNT = 1000
PADDING = "Container image is already present on the machine and can be accessed by the pod"


class NoSource:
    """The cache of a store with nothing to ask."""

    applied = 0
    when_current = None


def resource(prefix, fields=None, **options):
    cache = ResourceCache(
        NoSource(), prefix, read_object(fields), clock=FakeClock(), indexes={"owner": by_owner}, **options
    )
    cache.begin_loading()
    cache.load(iter([RangeResult([], 1, 0, False)]))
    return cache


def change(cache, key, obj, revision):
    cache.apply([StoreEvent(key, revision, KeyValue(key, orjson.dumps(obj), revision, revision), None)])


def pack_all(cache):
    for _ in cache.pack_cold(10 * COUNT):
        pass


def metadata(name):
    owner = {"kind": "ReplicaSet", "name": "set", "uid": "4c5f5b1e-9f0a-4d7c-8f6e-000000000001"}
    return {
        "name": name,
        "namespace": "default",
        "uid": secrets.token_hex(18),
        "labels": {"app": "web", "pod-template-hash": "7c9d8f6b5"},
        "ownerReferences": [owner],
    }


@contextmanager
def measured():
    """Yield a list that gets the bytes that are allocated in the block, and held at its end."""
    found = []
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        yield found
        found.append(tracemalloc.get_traced_memory()[0] - before)
    finally:
        tracemalloc.stop()


def test_an_old_event_costs_less_than_its_body():
    paths = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath", "a", "b", "c", "d")
    cache = resource(
        "/registry/events/",
        lambda obj: {f"involvedObject.{path}": obj["involvedObject"].get(path, "") for path in paths},
        limits=HistoryLimits(events=10, seconds=0.0),
    )

    with measured() as held:
        for number in range(COUNT):
            name = f"web-7c9d8f6b5-{secrets.token_hex(3)}.{secrets.token_hex(8)}"
            obj = {"metadata": {**metadata(name), "labels": {}, "ownerReferences": []}, "message": PADDING * 10}
            obj["involvedObject"] = {"kind": "Pod", "name": name[:20], "uid": secrets.token_hex(18)}
            change(cache, f"/registry/events/default/{name}", obj, number + 2)
        pack_all(cache)

    assert held[0] / COUNT < 1000, "with 1,150 bytes of JSON and twelve fields"


def test_a_pod_costs_little_beyond_its_body():
    cache = resource("/registry/pods/", lambda obj: {"spec.nodeName": "node"}, limits=HistoryLimits(10, 0.0))

    with measured() as held:
        for number in range(COUNT):
            name = f"web-7c9d8f6b5-{secrets.token_hex(3)}"
            change(cache, f"/registry/pods/default/{name}", {"metadata": metadata(name)}, number + 2)

    assert held[0] / COUNT < 1000, "with 420 bytes of JSON"


def test_changes_that_are_remembered_cost_a_fraction_of_what_was_replaced():
    limits = HistoryLimits(events=10, seconds=1e9, size=256 * 1024)
    cache = resource("/registry/pods/", limits=limits)
    obj = {"metadata": metadata("web"), "spec": {"text": [f"{PADDING} {number}" for number in range(50)]}}

    with measured() as held:
        for number in range(COUNT):
            obj["status"] = {"podIP": secrets.token_hex(6)}
            change(cache, "/registry/pods/default/web", obj, number + 2)

    replaced = COUNT * len(orjson.dumps(obj))
    assert held[0] < replaced / 4
    assert len(cache._history) == COUNT


def test_changes_of_a_resource_that_rests_are_remembered_packed_however_few_they_are():
    cache = resource("/registry/pods/", limits=HistoryLimits(events=100))
    obj = {"metadata": metadata("web"), "spec": {"text": [f"{PADDING} {number}" for number in range(50)]}}

    with measured() as held:
        for number in range(100):
            obj["status"] = {"podIP": secrets.token_hex(6)}
            change(cache, "/registry/pods/default/web", obj, number + 2)
        for _ in cache.pack_cold(100):
            pass

    before, newest = cache._history.after(99)
    assert held[0] < 100 * len(orjson.dumps(obj)) / 4
    assert len(cache._history) == 100
    assert before.previous.held * 4 < len(before.previous.body)
    assert newest.previous.held == len(newest.previous.body), "as what came after the revision is left alone"


def test_versions_of_an_object_share_its_key_and_changes_of_one_moment_their_time():
    cache, name = resource("/registry/pods/"), "web"
    for revision in range(2, 6):
        cache._clock.advance(STEP_SECONDS / 10)
        change(cache, f"/registry/pods/default/{name}", {"metadata": metadata(name)}, revision)

    events = cache._history.after(1)
    assert len(events) == 4
    assert len({id(event.object.key) for event in events}) == 1
    assert len({id(event.at) for event in events}) == 1
