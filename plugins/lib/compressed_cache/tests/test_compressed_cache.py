"""A cache that compresses what rests: whatever is hot or cold, it answers as a plain cache does."""

import random

import orjson
import pytest
from hyperkube_lib.compressed_cache import HOT, CompressedCache, Press, compressed

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.client.object_cache import ObjectCache
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.objects import labels_of, name_of


def pod(number, app="web", **spec):
    meta = {"name": f"pod-{number}", "namespace": f"n{number % 2}", "labels": {"app": app}, "uid": f"uid-{number}"}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": {"containers": [{"name": "main"}], **spec}}


def apps(obj):
    return labels_of(obj).values()


def filled(count, hot):
    cache = CompressedCache(hot=hot)
    cache.add_index("app", apps)
    for number in range(count):
        cache.put(pod(number))
    return cache


def cold(cache):
    return sorted(key for key, held in cache.held.items() if isinstance(held, bytes))


def names(objects):
    return sorted(map(name_of, objects))


def test_the_first_of_too_many_become_bytes_and_read_as_they_were():
    cache = filled(5, hot=2)

    assert cold(cache) == ["n0/pod-0", "n0/pod-2", "n1/pod-1"]
    assert cache.get("n0", "pod-2") == pod(2)
    assert len(cache) == 5


def test_what_is_read_is_hot_in_place_of_the_one_that_has_been_for_longest():
    cache = filled(5, hot=2)

    first = cache.get("n0", "pod-0")

    assert cold(cache) == ["n0/pod-2", "n1/pod-1", "n1/pod-3"]
    assert cache.get("n0", "pod-0") is first


def test_to_go_through_all_leaves_the_hot_ones_hot():
    cache = filled(5, hot=2)

    assert names(cache.each()) == names(cache.list()) == [f"pod-{number}" for number in range(5)]
    assert cold(cache) == ["n0/pod-0", "n0/pod-2", "n1/pod-1"]


@pytest.mark.parametrize(("hot", "warmed"), [(4, 0), (20, 5)], ids=["many of the hot", "few of them"])
def test_an_index_finds_hot_and_cold_ones_and_warms_few(hot, warmed):
    cache = filled(0, hot)
    for number in range(5):
        cache.put(pod(number), rests=True)

    assert names(cache.by_index("app", "web")) == [f"pod-{number}" for number in range(5)]
    assert 5 - len(cold(cache)) == warmed


def test_an_index_that_is_added_later_knows_the_cold_ones():
    cache = filled(3, hot=1)

    cache.add_index("namespace and app", lambda obj: [f"{obj['metadata']['namespace']}/{labels_of(obj)['app']}"])

    assert names(cache.by_index("namespace and app", "n0/web")) == ["pod-0", "pod-2"]


def test_a_cold_one_that_changes_leaves_its_place_in_the_index_and_is_told_of():
    cache = filled(3, hot=1)

    old = cache.put(pod(0, app="db"))

    assert old == pod(0)
    assert names(cache.by_index("app", "web")) == ["pod-1", "pod-2"]
    assert names(cache.by_index("app", "db")) == ["pod-0"]


def test_a_cold_one_is_removed_from_everywhere():
    cache = filled(3, hot=1)

    assert cache.remove("n0", "pod-0") == pod(0)
    assert cache.remove("n0", "pod-0") is None
    assert cache.get("n0", "pod-0") is None
    assert names(cache.by_index("app", "web")) == ["pod-1", "pod-2"]


def test_one_that_was_only_read_is_not_compressed_again(monkeypatch):
    cache = filled(2, hot=1)
    before = cache.held["n0/pod-0"]
    cache.get("n0", "pod-0")
    monkeypatch.setattr(Press, "press", lambda _self, _obj: pytest.fail("pressed"))
    cache._latest["n1/pod-1"] = cache.held["n1/pod-1"] = before  # whatever would be compressed in its place

    cache.get("n1", "pod-1")

    assert cache.held["n0/pod-0"] is before


def test_it_answers_as_a_plain_cache_whatever_happens_to_objects():
    plain, small, chance = ObjectCache(), CompressedCache(hot=3), random.Random(7)
    for cache in (plain, small):
        cache.add_index("app", apps)
    for step in range(2000):
        number, app = chance.randrange(20), chance.choice(("web", "db"))
        if chance.random() < 0.3:
            assert small.remove(f"n{number % 2}", f"pod-{number}") == plain.remove(f"n{number % 2}", f"pod-{number}")
        else:
            new, rests = pod(number, app, step=step, flag=chance.choice((1, True, 1.0, None))), chance.random() < 0.5
            one, other = (
                cache.put(cache.keep(orjson.loads(orjson.dumps(new))), rests=rests) for cache in (small, plain)
            )
            assert orjson.dumps(one) == orjson.dumps(other)
        app = chance.choice(("web", "db"))
        assert names(small.by_index("app", app)) == names(plain.by_index("app", app))
        assert names(small.list("n1")) == names(plain.list("n1"))
    assert sorted(map(orjson.dumps, small.each())) == sorted(map(orjson.dumps, plain.each()))
    assert sum(not isinstance(held, bytes) for held in small.held.values()) <= 3


def test_dictionaries_are_renewed_ever_more_seldom_and_old_ones_read(monkeypatch):
    monkeypatch.setattr("hyperkube_lib.compressed_cache._FIRST_SPAN", 2)
    press = Press()

    pressed = [press.press(pod(number)) for number in range(15)]

    assert [data[0] for data in pressed] == [0] * 2 + [1] * 4 + [2] * 8 + [3]
    assert [press.read(data) for data in pressed] == [pod(number) for number in range(15)]


def test_pods_of_a_template_are_a_tenth():
    cache = filled(0, hot=0)
    for number in range(100):
        cache.put(pod(number, env=[{"name": f"VAR_{each}", "value": "x" * each} for each in range(40)]))

    whole = len(orjson.dumps(cache.get("n0", "pod-8")))
    assert sum(map(len, list(cache.held.values())[1:])) / 99 < whole / 10


def test_a_factory_gets_such_caches_but_for_what_is_to_stay_hot_or_is_watched_for_changes():
    client = FakeClient(SystemClock())
    cache_of = compressed(client, {NODES: None, PODS: 5})
    factory = InformerFactory(client, cache_of=cache_of)

    caches = [factory.informer(resource)._cache for resource in (PODS, NODES, PODS._replace(resource="others"))]

    assert [type(cache) for cache in caches] == [CompressedCache, ObjectCache, CompressedCache]
    assert [cache._hot for cache in caches[::2]] == [5, HOT]
    assert type(InformerFactory(client, cache_of=cache_of, detect_mutations=True).informer(PODS)._cache) is ObjectCache


def test_a_client_that_has_the_objects_in_its_process_gets_plain_caches():
    class Here(FakeClient):
        def list_projected(self, options, project):
            raise NotImplementedError

    factory = InformerFactory(Here(SystemClock()), cache_of=compressed(Here(SystemClock()), {}))

    assert type(factory.informer(PODS)._cache) is ObjectCache


def test_an_informer_lists_into_it_by_pages(monkeypatch):
    monkeypatch.setattr("hyperkube.client.projected_list.PAGE_SIZE", 2)
    client = FakeClient(SystemClock())
    for number in range(5):
        client.create(PODS, pod(number))
    informer = InformerFactory(client, cache_of=compressed(client, {PODS: 2})).informer(PODS)
    heard = []
    informer.add_handler(
        lambda obj: heard.append(f"add {name_of(obj)}"), on_delete=lambda obj: heard.append(name_of(obj))
    )

    informer.refresh()
    client.delete(PODS, "pod-0", "n0")
    informer.refresh()

    assert sorted(heard) == ["add pod-0", "add pod-1", "add pod-2", "add pod-3", "add pod-4", "pod-0"]
    assert len(cold(informer._cache)) == 4
