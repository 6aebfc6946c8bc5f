import threading
import time

import orjson
import pytest
from hyperkube_lib.watch_cache.cached_object import read_object
from hyperkube_lib.watch_cache.decoding import TOGETHER
from hyperkube_lib.watch_cache.event_history import HistoryLimits
from hyperkube_lib.watch_cache.object_table import by_field, by_owner
from hyperkube_lib.watch_cache.waiting_readers import FIRST_WAIT_SECONDS
from hyperkube_lib.watch_cache.watch_cache import StoreCache

from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import Expired, StorageReadError, Timeout
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Compacted, Delete, EventBatch, Put, StoreUnavailable
from hyperkube.testing.waiting import eventually

INDEXES = {"spec.nodeName": by_field("spec.nodeName"), "owner": by_owner}


def fields(obj):
    return {"spec.nodeName": obj.get("spec", {}).get("nodeName", "")}


class RemoteStore:
    """A store that does not call its readers, as one in another process."""

    def __init__(self, store):
        self._store = store
        for name in ("get", "range", "count", "txn", "watch", "grant_lease", "compact", "close", "revision"):
            setattr(self, name, getattr(store, name))


class Cluster:
    def __init__(self, store, clock=None, *, expires=False, **options):
        self.store = store
        self.cache = StoreCache(store, clock or SystemClock(), **options)
        self.cache.start()
        self.pods = self.cache.resource("/registry/pods/", read_object(fields), indexes=INDEXES, expires=expires)

    def put(self, name, namespace="default", *, labels=None, node="", owner=""):
        meta = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": labels or {}}
        if owner:
            meta["ownerReferences"] = [{"uid": owner}]
        pod = {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": {"nodeName": node}}
        return self.store.txn([], [Put(f"/registry/pods/{namespace}/{name}", orjson.dumps(pod))]).revision

    def catch_up(self):
        self.cache.wait_for(self.pods, None)

    def delete(self, name, namespace="default"):
        return self.store.txn([], [Delete(f"/registry/pods/{namespace}/{name}")]).revision


@pytest.fixture(params=["in process", "remote", "in process, uncached", "remote, uncached"])
def cluster(request):
    store, (place, _, uncached) = MemoryStore(), request.param.partition(", ")
    cluster = Cluster(store if place == "in process" else RemoteStore(store), expires=bool(uncached))
    yield cluster
    cluster.cache.close()
    store.close()


def seen(records):
    return [(record.kind, record.object.name if record.object else "", record.revision) for record in records]


def next_records(watch, count):
    records = []
    while len(records) < count:
        found = watch.drain()
        if not found and not watch.wait(30):  # only an empty answer has the reader notified again
            break
        records += found
    return records


def app(value):
    return lambda obj: obj.labels.get("app") == value


class TestReading:
    def test_a_body_carries_the_revision_of_its_write(self, cluster):
        revision = cluster.put("a", labels={"app": "x"}, node="n1")

        pod = cluster.pods.get("default", "a")

        assert orjson.loads(pod.body)["metadata"]["resourceVersion"] == str(revision)
        assert (pod.namespace, pod.name, dict(pod.labels)) == ("default", "a", {"app": "x"})

    def test_a_read_sees_every_write_before_it(self, cluster):
        for number in range(50):
            revision = cluster.put("a")
            assert cluster.pods.get("default", "a").revision == revision, number

    def test_a_missing_object_is_none(self, cluster):
        assert cluster.pods.get("default", "missing") is None

    def test_a_list_is_ordered_by_key_and_cut_by_namespace(self, cluster):
        for namespace, name in [("b", "x"), ("a", "y"), ("a", "x"), ("a-b", "x")]:
            cluster.put(name, namespace)

        everything, some = cluster.pods.list(), cluster.pods.list(namespace="a")

        assert [(o.namespace, o.name) for o in everything.objects] == [("a-b", "x"), ("a", "x"), ("a", "y"), ("b", "x")]
        assert [o.name for o in some.objects] == ["x", "y"]
        assert everything.revision == cluster.store.revision()

    def test_a_list_of_one_name_looks_at_no_other_object(self, cluster):
        for namespace, name in [("a", "x"), ("a", "xy"), ("b", "x")]:
            cluster.put(name, namespace)
        seen = []

        found = cluster.pods.list(namespace="a", name="x", matches=lambda obj: seen.append(obj.name) or True, limit=1)

        assert ([(o.namespace, o.name) for o in found.objects], seen) == ([("a", "x")], ["x"])
        assert (found.next_start, cluster.pods.list(namespace="a", name="z").objects) == ("", [])

    def test_pages_are_one_snapshot(self, cluster):
        for name in ("c0", "c1", "c2", "c3", "c4"):
            cluster.put(name)
        first = cluster.pods.list(limit=2)
        cluster.put("c00")
        cluster.put("c2", labels={"changed": "yes"})
        cluster.delete("c3")
        cluster.put("c5")

        second = cluster.pods.list(limit=2, start=first.next_start, resource_version=first.revision, exact=True)
        third = cluster.pods.list(start=second.next_start, resource_version=first.revision, exact=True)

        assert [o.name for page in (first, second, third) for o in page.objects] == ["c0", "c1", "c2", "c3", "c4"]
        assert [page.remaining for page in (first, second, third)] == [3, 1, None]
        assert {page.revision for page in (first, second, third)} == {first.revision}
        assert not second.objects[0].labels
        assert third.next_start == ""

    def test_a_selected_page_goes_on_while_anything_is_unseen(self, cluster):
        for name, value in [("a", "x"), ("b", "y"), ("c", "x"), ("d", "y")]:
            cluster.put(name, labels={"app": value})

        first = cluster.pods.list(limit=2, matches=app("x"))
        second = cluster.pods.list(limit=2, matches=app("x"), start=first.next_start)

        assert [o.name for o in first.objects] == ["a", "c"]
        assert (first.next_start != "", first.remaining) == (True, None)
        assert (list(second.objects), second.next_start) == ([], "")

    def test_an_index_follows_its_field(self, cluster):
        cluster.put("a", node="n1")
        cluster.put("b", node="n1", owner="o1")
        assert [o.name for o in cluster.pods.list(index=("spec.nodeName", "n1")).objects] == ["a", "b"]
        before = cluster.store.revision()

        cluster.put("a", node="n2")
        cluster.delete("b")

        assert [o.name for o in cluster.pods.list(index=("spec.nodeName", "n2")).objects] == ["a"]
        assert cluster.pods.list(index=("spec.nodeName", "n1")).objects == []
        past = cluster.pods.list(index=("spec.nodeName", "n1"), resource_version=before, exact=True)
        assert [o.name for o in past.objects] == ["a", "b"]
        assert [
            o.name for o in cluster.pods.list(index=("owner", "o1"), resource_version=before, exact=True).objects
        ] == ["b"]

    def test_the_past_before_the_cache_comes_from_the_store(self, cluster):
        first = cluster.put("a", labels={"app": "old"})
        cluster.put("a", labels={"app": "new"})

        (pod,) = cluster.pods.list(resource_version=first, exact=True).objects

        assert (pod.labels["app"], pod.revision) == ("old", first)

    def test_a_compacted_past_is_expired(self, cluster):
        first = cluster.put("a")
        last = cluster.put("a")
        cluster.store.compact(last)

        with pytest.raises(Expired):
            cluster.pods.list(resource_version=first, exact=True)

    def test_a_page_below_the_compacted_revision_is_expired_though_the_cache_has_it(self, cluster):
        for name in ("a", "b", "c"):
            cluster.put(name)
        first = cluster.pods.list(limit=1)
        again = cluster.pods.list(limit=1, start=first.next_start, resource_version=first.revision, exact=True)
        cluster.put("d")
        cluster.store.compact(cluster.store.revision())

        with pytest.raises(Expired):
            cluster.pods.list(start=first.next_start, resource_version=first.revision, exact=True)
        assert [o.name for o in again.objects] == ["b"]
        assert len(cluster.pods.list(resource_version=cluster.store.revision(), exact=True).objects) == 4

    def test_an_undecodable_object_fails_its_readers_only(self, cluster):
        cluster.put("good")
        cluster.store.txn([], [Put("/registry/pods/bad/x", b"{not json")])

        with pytest.raises(StorageReadError):
            cluster.pods.get("bad", "x")
        with pytest.raises(StorageReadError):
            cluster.pods.list()
        assert cluster.pods.get("default", "good").name == "good"
        assert len(cluster.pods.list(namespace="default").objects) == 1
        cluster.delete("x", "bad")
        assert len(cluster.pods.list().objects) == 1

    def test_two_prefixes_do_not_mix(self, cluster):
        specs = cluster.cache.resource("/registry/services/specs/", read_object())
        endpoints = cluster.cache.resource("/registry/services/endpoints/", read_object())
        value = b'{"metadata":{"name":"a","namespace":"d"}}'
        assert specs.list().objects == endpoints.list().objects == []

        cluster.store.txn([], [Put("/registry/services/specs/d/a", value), Put("/registry/other/x", b"?")])

        assert [o.name for o in specs.list().objects] == ["a"]
        assert endpoints.list().objects == []

    def test_a_prefix_has_one_cache(self, cluster):
        with pytest.raises(ValueError, match="has a cache already"):
            cluster.cache.resource("/registry/pods/", read_object())
        with pytest.raises(ValueError, match="is not a folder of"):
            cluster.cache.resource("/elsewhere/pods/", read_object())


def test_a_revision_of_the_future_times_out():
    cluster = Cluster(MemoryStore(), timeout=0.01)
    revision = cluster.put("a")

    with pytest.raises(Timeout) as caught:
        cluster.pods.get("default", "a", resource_version=revision + 5)

    assert caught.value.message == f"Timeout: Too large resource version: {revision + 5}, current: {revision}"
    assert caught.value.causes == [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    assert caught.value.retry_after_seconds == 1


class TestWatching:
    def test_changes_after_a_revision(self, cluster):
        start = cluster.put("a")
        watch = cluster.pods.watch(resource_version=start)

        revisions = [cluster.put("b"), cluster.put("a"), cluster.delete("b")]

        records = next_records(watch, 3)
        assert seen(records) == list(zip(["ADDED", "MODIFIED", "DELETED"], ["b", "a", "b"], revisions, strict=True))
        assert orjson.loads(records[2].object.body)["metadata"]["resourceVersion"] == str(revisions[2])

    def test_a_revision_that_another_servers_cache_reached_first_is_not_repeated(self, cluster):
        known = cluster.put("a") + 1
        watch = cluster.pods.watch(resource_version=known)
        watch.drain()
        early = watch.bookmark()

        cluster.put("b")
        revision = cluster.put("c")

        assert early.revision == known
        assert seen(next_records(watch, 1)) == [("ADDED", "c", revision)]

    def test_without_a_revision_it_begins_with_what_exists(self, cluster):
        first, second = cluster.put("b"), cluster.put("a")

        watch = cluster.pods.watch()

        assert seen(next_records(watch, 2)) == [("ADDED", "a", second), ("ADDED", "b", first)]

    def test_of_a_name_that_is_not_there_it_begins_with_nothing(self, cluster):
        cluster.put("x", "a")
        watch = cluster.pods.watch(namespace="a", name="y", initial_events=True)

        revision = cluster.put("y", "a")

        assert [(kind, name) for kind, name, _ in seen(next_records(watch, 2))] == [("BOOKMARK", ""), ("ADDED", "y")]
        assert watch.bookmark().revision == revision

    def test_a_name_may_be_in_several_namespaces(self, cluster):
        revisions = [cluster.put("x", "a"), cluster.put("y", "a"), cluster.put("x", "b")]

        watch = cluster.pods.watch(name="x")

        assert seen(next_records(watch, 2)) == [("ADDED", "x", revisions[0]), ("ADDED", "x", revisions[2])]

    def test_initial_events_end_with_a_bookmark(self, cluster):
        revision = cluster.put("a", labels={"app": "x"})
        last = cluster.put("b")

        watch = cluster.pods.watch(initial_events=True, matches=app("x"))
        records = next_records(watch, 2)

        assert seen(records) == [("ADDED", "a", revision), ("BOOKMARK", "", last)]
        assert records[1].initial_end

    def test_no_initial_events_means_from_now(self, cluster):
        cluster.put("a")
        watch = cluster.pods.watch(initial_events=False)

        revision = cluster.put("b")

        assert seen(next_records(watch, 1)) == [("ADDED", "b", revision)]

    def test_selector_transitions_become_additions_and_deletions(self, cluster):
        watch = cluster.pods.watch(initial_events=False, matches=app("x"))

        cluster.put("a", labels={"app": "y"})
        revisions = [
            cluster.put("a", labels={"app": "x"}),
            cluster.put("a", labels={"app": "x", "more": "1"}),
            cluster.put("a", labels={"app": "y"}),
        ]
        cluster.delete("a")
        revisions += [cluster.put("a", labels={"app": "x"}), cluster.delete("a")]

        records = next_records(watch, 5)
        assert [(r.kind, r.revision) for r in records] == list(
            zip(["ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"], revisions, strict=True)
        )
        gone = orjson.loads(records[2].object.body)["metadata"]
        assert (gone["labels"], gone["resourceVersion"]) == ({"app": "x", "more": "1"}, str(revisions[2]))

    @pytest.mark.parametrize("late", [False, True], ids=["live", "replayed"])
    @pytest.mark.parametrize(
        ("scope", "expected"),
        [
            ({}, ["a/x", "a/y", "b/x"]),
            ({"namespace": "a"}, ["a/x", "a/y"]),
            ({"namespace": "a", "name": "x"}, ["a/x"]),
            ({"name": "x"}, ["a/x", "b/x"]),
            ({"index": ("spec.nodeName", "n1")}, ["a/y", "b/x"]),
            ({"namespace": "b", "index": ("spec.nodeName", "n1")}, ["b/x"]),
        ],
        ids=str,
    )
    def test_a_scope_gets_its_own_events_only(self, cluster, scope, expected, late):
        cluster.pods.list()
        start = cluster.store.revision()
        watch = None if late else cluster.pods.watch(resource_version=start, **scope)
        cluster.put("x", "a")
        cluster.put("y", "a", node="n1")
        cluster.put("x", "b", node="n1")
        cluster.pods.list()

        watch = watch or cluster.pods.watch(resource_version=start, **scope)

        records = next_records(watch, len(expected))
        assert [f"{r.object.namespace}/{r.object.name}" for r in records] == expected
        assert watch.drain() == []

    def test_an_index_watch_sees_objects_come_and_go(self, cluster):
        watch = cluster.pods.watch(index=("spec.nodeName", "n1"), initial_events=False)

        revisions = [cluster.put("a", node="n1"), cluster.put("a", node="n2")]

        assert seen(next_records(watch, 2)) == [("ADDED", "a", revisions[0]), ("DELETED", "a", revisions[1])]

    def test_who_watched_before_the_cache_was_loaded_misses_nothing(self, cluster):
        first = cluster.put("a", labels={"app": "x"})
        revisions = [cluster.put("a", labels={"app": "y"}), cluster.put("b"), cluster.delete("a")]

        watch = cluster.pods.watch(resource_version=first)
        revisions.append(cluster.put("c"))

        kinds = ["MODIFIED", "ADDED", "DELETED", "ADDED"]
        assert seen(next_records(watch, 4)) == list(zip(kinds, "abac", revisions, strict=True))

    def test_what_is_written_while_others_have_their_turn_in_a_load_is_there_behind_it(self):
        store, turns = MemoryStore(), []
        cluster = Cluster(store, rest=lambda: turns.append(cluster.put(f"new-{len(turns)}")))
        for number in range(2 * TOGETHER + 1):
            cluster.put(f"pod-{number:02}")

        listed = cluster.pods.list()

        names = [obj.name for obj in listed.objects]
        assert len(turns) == 3
        assert names == [f"new-{number}" for number in range(3)] + [f"pod-{number:02}" for number in range(21)]
        assert listed.revision == turns[-1]

    def test_another_that_reaches_back_less_far_meanwhile_is_no_harm(self, cluster, monkeypatch):
        first, second, third = (cluster.put(name) for name in "abc")
        read_changes, others = cluster.cache.read_changes, [second]

        def read_slowly(*bounds):
            if others:
                cluster.pods.watch(resource_version=others.pop())
            return read_changes(*bounds)

        monkeypatch.setattr(cluster.cache, "read_changes", read_slowly)
        watch = cluster.pods.watch(resource_version=first)

        assert seen(next_records(watch, 2)) == [("ADDED", "b", second), ("ADDED", "c", third)]

    def test_a_compacted_revision_is_too_old(self, cluster):
        first = cluster.put("a")
        last = cluster.put("a")
        cluster.store.compact(last)
        cluster.catch_up()

        with pytest.raises(Expired) as caught:
            cluster.pods.watch(resource_version=first)
        assert caught.value.message == f"too old resource version: {first} ({last})"

    def test_a_bookmark_comes_only_when_all_is_drained(self, cluster):
        watch = cluster.pods.watch(initial_events=False)
        revision = cluster.put("a")
        cluster.catch_up()
        waiting = watch.bookmark()
        watch.drain()

        other = cluster.store.txn([], [Put("/registry/other", b"v")]).revision
        cluster.catch_up()

        assert waiting is None
        assert (watch.bookmark().kind, watch.bookmark().revision) == ("BOOKMARK", other)
        assert other == revision + 1

    def test_a_slow_watcher_is_ended_and_the_others_go_on(self, cluster):
        slow = cluster.pods.watch(initial_events=False, capacity=3)
        other = cluster.pods.watch(initial_events=False)

        for _ in range(5):
            cluster.put("a")

        assert len(next_records(other, 5)) == 5
        assert (slow.ended, slow.error) == (True, None)
        assert cluster.pods.watchers == 1

    def test_a_closed_watch_gets_nothing_more(self, cluster):
        watch = cluster.pods.watch(initial_events=False)

        watch.close()
        cluster.put("a")
        cluster.pods.list()

        assert (watch.drain(), watch.ended, cluster.pods.watchers) == ([], True, 0)

    def test_forgetting_a_resource_ends_its_watches(self, cluster):
        watch = cluster.pods.watch(initial_events=False)

        cluster.cache.forget(cluster.pods, Expired("gone"))

        assert watch.wait(30)
        assert watch.ended
        assert isinstance(watch.error, Expired)

    def test_the_reader_is_told_once_per_burst(self):
        cluster, rung = Cluster(MemoryStore()), []
        watch = cluster.pods.watch(initial_events=False, notify=rung.append)
        cluster.put("a")
        cluster.put("b")
        first_burst = len(rung)

        drained = len(watch.drain())
        cluster.put("c")
        not_yet_empty = len(rung)
        drained += len(watch.drain()) + len(watch.drain())
        cluster.put("d")

        assert (first_burst, not_yet_empty, drained, len(rung)) == (1, 1, 3, 2)

    def test_a_reader_gets_no_more_bytes_at_once_than_it_asks_for_and_one_record(self):
        cluster = Cluster(MemoryStore())
        for name in "abc":
            cluster.put(name)
        watch = cluster.pods.watch()
        cluster.put("d")
        cluster.put("e")

        parts = [[record.object.name for record in watch.drain(size=1)] for _ in range(6)]

        assert parts == [["a"], ["b"], ["c"], ["d"], ["e"], []]

    def test_many_writers_and_a_late_watcher_agree(self, cluster):
        def write(worker):
            for number in range(30):
                cluster.put(f"{worker}-{number % 5}")
                if number % 7 == 6:
                    cluster.delete(f"{worker}-{number % 5}")

        threads = [threading.Thread(target=write, args=(worker,)) for worker in range(3)]
        for thread in threads:
            thread.start()
        listed = cluster.pods.list()
        watch = cluster.pods.watch(resource_version=listed.revision)
        for thread in threads:
            thread.join()
        final = cluster.pods.list()
        eventually(
            lambda: cluster.cache.applied >= final.revision, why="a remote store's watch may be behind its lists"
        )

        state = {o.key: o.revision for o in listed.objects}
        last = listed.revision
        for record in watch.drain(10_000):
            assert record.revision > last
            last = record.revision
            if record.kind == "DELETED":
                del state[record.object.key]
            else:
                assert (record.kind == "ADDED") == (record.object.key not in state)
                state[record.object.key] = record.revision
        assert state == {o.key: o.revision for o in final.objects}


def test_history_is_kept_by_age():
    clock = FakeClock()
    cluster = Cluster(MemoryStore(), clock)
    pods = cluster.cache.resource(
        "/registry/pods/few/", read_object(), limits=HistoryLimits(events=2, seconds=10, size=10**6)
    )
    pods.list()
    revisions = [cluster.put("a", "few") for _ in range(4)]
    young = pods.watch(resource_version=revisions[0]).drain()
    clock.advance(11)
    revisions.append(cluster.put("a", "few"))
    cluster.store.compact(revisions[-1])

    assert [record.revision for record in young] == revisions[1:4]
    with pytest.raises(Expired):
        pods.watch(resource_version=revisions[0])
    assert [r.revision for r in pods.watch(resource_version=revisions[2]).drain()] == revisions[3:]


class BreakingStore(RemoteStore):
    """A remote store whose watch can be made to fail."""

    def __init__(self, store):
        super().__init__(store)
        self.failure = None
        self.watch = self.breaking_watch

    def breaking_watch(self, start, end, *, revision):
        self.live = self._store.watch(start, end, revision=revision)
        return self

    def __iter__(self):
        yield from self.live
        failure, self.failure = self.failure, None
        if failure:
            raise failure

    def request_progress(self):
        self.live.request_progress()

    def break_off(self, failure):
        self.failure = failure
        self.live.close()


class SilentStore(BreakingStore):
    """A remote store that does not answer requests for progress, and counts them."""

    asked = 0

    def request_progress(self):
        self.asked += 1


class TestReadersThatWaitForARemoteStore:
    def test_one_asks_for_all_until_something_is_delivered(self):
        clock = FakeClock()
        cluster = Cluster(SilentStore(MemoryStore()), clock)
        cluster.pods.list()
        wanted = cluster.store.revision() + 1
        readers = [threading.Thread(target=cluster.cache.wait_for, args=(cluster.pods, wanted)) for _ in range(20)]

        for reader in readers:
            reader.start()
        for _ in range(5):
            time.sleep(0.02)
            clock.advance(FIRST_WAIT_SECONDS)
        asked = cluster.store.asked
        cluster.cache._deliver(EventBatch((), wanted))
        for reader in readers:
            reader.join()
        cluster.cache.close()

        assert asked == 1


class TestABrokenWatchOfTheStore:
    @pytest.fixture
    def cluster(self):
        cluster = Cluster(BreakingStore(MemoryStore()))
        cluster.put("a")
        cluster.pods.list()
        yield cluster
        cluster.cache.close()

    def test_that_was_unavailable_goes_on(self, cluster, monkeypatch):
        monkeypatch.setattr("hyperkube_lib.watch_cache.watch_cache.RETRY_SECONDS", 0.01)
        watch = cluster.pods.watch(initial_events=False)

        cluster.store.break_off(StoreUnavailable("away"))
        revision = cluster.put("b")

        assert cluster.pods.get("default", "b").revision == revision
        assert seen(next_records(watch, 1)) == [("ADDED", "b", revision)]
        assert not watch.ended

    def test_that_fell_behind_starts_the_caches_afresh(self, cluster):
        watch = cluster.pods.watch(initial_events=False)

        cluster.store.break_off(Compacted(1, 2))

        assert watch.wait(30)
        assert watch.ended
        revision = cluster.put("b")
        assert cluster.pods.get("default", "b").revision == revision
        assert len(cluster.pods.list().objects) == 2
