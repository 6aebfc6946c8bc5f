"""What is seldom read takes a fraction of its memory, and reads as before."""

import secrets

import orjson
import pytest
from hyperkube_lib.watch_cache.cached_object import CachedObject, read_object
from hyperkube_lib.watch_cache.cold_objects import _PACKED, PAUSE_SECONDS, PERIOD_SECONDS
from hyperkube_lib.watch_cache.event_history import PACK_SECONDS, HistoryLimits
from hyperkube_lib.watch_cache.packing import Packer
from hyperkube_lib.watch_cache.watch_cache import StoreCache

from hyperkube.machinery.clock import FakeClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Delete, Put

PREFIX = "/registry/events/"
WINDOW = HistoryLimits(events=2, seconds=10)


def event(name, reason="Started"):
    owner = {"kind": "Pod", "namespace": "default", "name": name, "uid": secrets.token_hex(16)}
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "default", "uid": secrets.token_hex(16), "labels": {"app": "x"}},
        "involvedObject": owner,
        "reason": reason,
        "message": "Container image is already present on the machine and can be accessed by the pod; " * 2,
        "source": {"component": "kubelet", "host": "a-node-with-a-long-name.example.org"},
    }


def fields(obj):
    return {"reason": obj["reason"], "involvedObject.name": obj["involvedObject"]["name"]}


class Events:
    """A cache of events on a clock of its own."""

    def __init__(self, store=None, limits=WINDOW):
        self.store, self.clock = store or MemoryStore(), FakeClock()
        self.caches = StoreCache(self.store, self.clock)
        self.caches.start()
        self.cache = self.caches.resource(PREFIX, read_object(fields), limits=limits)

    def put(self, name, **options):
        value = orjson.dumps(event(name, **options))
        return self.store.txn([], [Put(f"{PREFIX}default/{name}", value)]).revision

    def held(self, name):
        return self.cache.get("default", name).held


@pytest.mark.parametrize("body", [b"", b"{}", b"x" * 100_000, secrets.token_bytes(50_000)])
def test_what_is_unpacked_is_what_was_packed(body):
    packer = Packer()

    assert packer.pack(body).unpacked() == body
    assert packer.pack(body).unpacked() == body


def test_dictionaries_change_and_what_was_packed_with_another_one_stays_readable():
    packer = Packer()
    bodies = [orjson.dumps(event(f"pod-{number}")) for number in range(2100)]
    packed = [packer.pack(body) for body in bodies]

    assert [each.unpacked() for each in packed] == bodies
    assert sum(map(len, packed)) < sum(map(len, bodies)) / 2


def test_a_packed_object_reads_as_before():
    obj = read_object(fields)("/registry/events/default/a", orjson.dumps(event("a")), 7)
    before = (obj.body, obj.name, obj.namespace, dict(obj.labels), dict(obj.fields), obj.owners, obj.at(9).body)

    packer = Packer()
    packer.pack(orjson.dumps(event("b")))
    obj.pack(packer)
    obj.pack(packer)

    assert obj.held < len(before[0]) / 2
    now = (obj.body, obj.name, obj.namespace, dict(obj.labels), dict(obj.fields), obj.owners, obj.at(9).body)
    assert now == before


def test_objects_without_fields_are_packed_too():
    obj = CachedObject("/registry/events/a", 1, b"{}" * 1000)
    obj.pack(Packer())

    assert (obj.body, dict(obj.fields)) == (b"{}" * 1000, {})


def test_what_has_not_changed_for_a_round_is_packed():
    events = Events()
    events.cache.list()
    for name in ("a", "b"):
        events.put(name)
    young = [events.held(name) for name in ("a", "b")]

    events.clock.advance(PERIOD_SECONDS)
    events.put("b")
    first = [events.held(name) for name in ("a", "b")]
    events.clock.advance(PERIOD_SECONDS)

    assert first == young
    assert events.held("a") < young[0] / 2
    assert events.held("b") == young[1]
    found = events.cache.list(matches=lambda obj: obj.fields["involvedObject.name"] == "a").objects
    assert [orjson.loads(obj.body)["metadata"]["name"] for obj in found] == ["a"]


def test_what_was_loaded_is_packed_in_pieces():
    before = Events()
    for number in range(_PACKED + 1):
        before.put(f"old-{number:03}")
    events = Events(before.store)
    listed = events.cache.list().objects
    loose = listed[0].held

    events.clock.advance(PERIOD_SECONDS)
    first = sum(obj.held < loose / 2 for obj in listed)
    events.clock.advance(PAUSE_SECONDS)

    assert first == _PACKED
    assert all(obj.held < loose / 2 for obj in listed)


def test_what_is_read_stays_unpacked_until_the_next_round():
    events = Events()
    events.cache.list()
    events.put("a")
    events.clock.advance(2 * PERIOD_SECONDS)
    packed = events.held("a")

    body = events.cache.get("default", "a").body
    read = events.held("a")
    events.clock.advance(PERIOD_SECONDS)

    assert packed < read == len(body)
    assert events.held("a") < read / 2


def test_the_history_of_what_rests_is_forgotten_as_under_load():
    events = Events(limits=HistoryLimits(events=2, seconds=10))
    events.cache.list()
    for _ in range(9):
        events.put("a")
    young = len(events.cache._history)

    events.clock.advance(PERIOD_SECONDS)

    assert (young, len(events.cache._history)) == (9, 2)


def test_nothing_is_packed_after_the_end():
    events = Events()
    events.cache.list()
    obj = events.cache.get("default", "a") if events.put("a") else None
    events.caches.close()

    events.clock.advance(3 * PERIOD_SECONDS)

    assert obj.is_loose


def test_the_deletion_of_a_packed_object_tells_its_last_state():
    events = Events()
    events.cache.list()
    watch = events.cache.watch()
    for name in ("a", "b", "c"):
        events.put(name)
    events.clock.advance(2 * PERIOD_SECONDS)
    assert not events.cache.get("default", "a").is_loose
    watch.drain()

    revision = events.store.txn([], [Delete(f"{PREFIX}default/a")]).revision

    (told,) = watch.drain()
    shown = orjson.loads(told.object.body)
    assert (told.kind, shown["metadata"]["resourceVersion"]) == ("DELETED", str(revision))
    assert shown["involvedObject"]["name"] == "a"


def test_a_busy_resource_remembers_more_than_its_budget_of_bytes():
    body = len(orjson.dumps(event("a")))
    events = Events(limits=HistoryLimits(events=1, seconds=60, size=40 * body))
    events.cache.list()
    begin = events.put("a", reason="0")
    revisions = [events.put("a", reason=str(number)) for number in range(1, 81)]
    events.store.compact(revisions[-1])

    told = events.cache.watch(resource_version=begin).drain()

    assert [record.revision for record in told] == revisions
    assert [orjson.loads(record.object.body)["reason"] for record in told] == [str(number) for number in range(1, 81)]


def test_the_budget_bounds_what_is_packed_too():
    body = len(orjson.dumps(event("a")))
    events = Events(limits=HistoryLimits(events=1, seconds=60, size=4 * body))
    events.cache.list()
    begin = events.put("a")
    for _ in range(200):
        last = events.put("a")
    history = events.cache._history

    assert history._size <= 4 * body
    assert history._size == held_by(history)
    assert history._loose_size <= 2 * body
    assert begin < history.complete_from < last


def held_by(history):
    return sum(record.previous.held for record in history._events if record.previous)


def test_what_the_history_holds_is_packed_behind_the_changes():
    body = len(orjson.dumps(event("a")))
    events = Events(limits=HistoryLimits(events=1, seconds=60, size=100 * body))
    events.cache.list()
    for _ in range(41):
        events.put("a")
    history = events.cache._history
    before = history._loose_size
    events.clock.advance(PACK_SECONDS)

    assert before > 30 * body
    assert history._loose_size <= 25 * body
    assert history._size == held_by(history)
    assert all(obj.is_loose for record in list(history._events)[-20:] if (obj := record.previous))


@pytest.mark.parametrize("meanwhile", ["a change", "a fresh start"])
def test_what_is_forgotten_while_it_is_packed_counts_for_nothing(monkeypatch, meanwhile):
    body = len(orjson.dumps(event("a")))
    events = Events(limits=HistoryLimits(events=1, seconds=60, size=100 * body))
    events.cache.list()
    for _ in range(30):
        events.put("a")
    history, packer, calls = events.cache._history, events.cache._packer, []
    pack = packer.pack

    def interrupted(body, **options):
        calls.append(body)
        if len(calls) == 1:
            if meanwhile == "a change":
                history._limits = HistoryLimits(events=1, seconds=0, size=100 * len(body))
                history.trim(events.clock.monotonic())
            else:
                history.restart(events.store.revision())
        return pack(body, **options)

    monkeypatch.setattr(packer, "pack", interrupted)
    events.clock.advance(PACK_SECONDS)

    assert calls
    assert len(history) == (1 if meanwhile == "a change" else 0)
    assert history._size == held_by(history)


def test_what_the_history_packed_meanwhile_stays_as_it_is():
    packer = Packer()
    obj = CachedObject("/registry/events/a", 1, b"{}" * 1000)

    bodies = obj.packed(packer)
    obj.pack(packer, stays=True)
    obj.exchange(bodies, packer)
    packed = obj.held
    assert obj.body == b"{}" * 1000
    assert obj.held == packed < 1000


def test_what_the_limits_do_not_cover_is_forgotten_at_rest():
    events = Events(limits=HistoryLimits(events=2, seconds=60))
    events.cache.list()
    events.put("a")
    for _ in range(5):
        events.put("a")
    before = len(events.cache._history)

    events.cache._history.forget()
    young = len(events.cache._history)
    events.clock.advance(61)
    events.cache._history.forget()

    assert (before, young, len(events.cache._history)) == (6, 6, 2)
