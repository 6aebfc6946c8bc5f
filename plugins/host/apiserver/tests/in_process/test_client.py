"""Informers in the API server's own process: fed by turns on few threads, with the promises of those that have one."""

import threading

import pytest
from hyperkube_host.apiserver.in_process.client import InProcessClient
from hyperkube_host.apiserver.in_process.watch import REST_SECONDS, TOGETHER
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.loop import EdgeLoop, TimeSlices

from hyperkube.client.informer import InformerFactory
from hyperkube.client.projected_list import ListOptions
from hyperkube.client.shared_threads import SharedThreads
from hyperkube.kinds.resources import CONFIG_MAPS, PODS, SECRETS, SERVICE_ACCOUNTS
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import ServiceUnavailable
from hyperkube.machinery.objects import name_of
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytest.importorskip("hyperkube_api.core", reason="needs the core API group")


@pytest.fixture
def server():
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
    server = ApiServer(options=options, store=MemoryStore())
    server.start()
    assert eventually(server.ready)
    yield server
    server.close()


@pytest.fixture
def client(server):
    return server.client(LOOPBACK)


@pytest.fixture
def factory(client):
    factory = InformerFactory(client)
    yield factory
    factory.stop()


def config_map(name, **data):
    return {"metadata": {"name": name}, "data": data}


def heard(informer):
    log = []
    informer.add_handler(
        lambda obj: log.append(f"add {name_of(obj)}"),
        lambda _old, new: log.append(f"update {name_of(new)}"),
        lambda obj: log.append(f"delete {name_of(obj)}"),
    )
    return log


def test_the_cache_follows_and_handlers_hear_everything_in_order(client, factory):
    client.create(CONFIG_MAPS, config_map("a"), "default")
    log = heard(informer := factory.informer(CONFIG_MAPS, "default"))
    factory.start()
    assert factory.wait_synced(60)

    for number in range(500):
        client.patch(CONFIG_MAPS, "a", {"data": {"n": str(number)}}, "default")
    client.create(CONFIG_MAPS, config_map("b"), "default")
    client.delete(CONFIG_MAPS, "a", "default")

    assert eventually(lambda: log[-1:] == ["delete a"])
    assert log[0] == "add a"
    assert log[1:-2] == ["update a"] * 500
    assert log[-2] == "add b"
    assert [name_of(obj) for obj in informer.list("default")] == ["b"]


def test_all_of_a_factory_share_its_threads(factory):
    before = threading.active_count()
    for resource in (CONFIG_MAPS, SECRETS, PODS, SERVICE_ACCOUNTS):
        for namespace in ("a", "b", "c", "d"):
            factory.informer(resource, namespace)

    factory.start()

    assert factory.wait_synced(60)
    assert threading.active_count() <= before + 3  # two for turns, one for timers


def test_a_refused_list_is_asked_again(client, factory, monkeypatch):
    answers = [ServiceUnavailable("not yet"), ServiceUnavailable("not yet either")]
    listed = client.list_projected

    def refusing(*args, **kwargs):
        if answers:
            raise answers.pop()
        return listed(*args, **kwargs)

    monkeypatch.setattr(client, "list_projected", refusing)
    factory.informer(CONFIG_MAPS)

    factory.start()

    assert factory.wait_synced(60)
    assert answers == []


def test_a_stopped_informer_hears_no_more_and_keeps_its_cache(client, factory):
    log = heard(informer := factory.informer(CONFIG_MAPS, "default"))
    factory.start()
    assert factory.wait_synced(60)
    client.create(CONFIG_MAPS, config_map("a"), "default")
    assert eventually(lambda: log == ["add a"])

    factory.discard(informer)
    client.create(CONFIG_MAPS, config_map("b"), "default")
    other = heard(factory.informer(CONFIG_MAPS, "default"))

    assert eventually(lambda: "add b" in other)
    assert log == ["add a"]
    assert informer.get("default", "a") is not None


def test_a_handler_may_stop_its_own_informer(client, factory):
    informer = factory.informer(CONFIG_MAPS, "default")
    calls = []
    informer.add_handler(lambda obj: (calls.append(name_of(obj)), informer.stop()))
    factory.start()
    assert factory.wait_synced(60)

    client.create(CONFIG_MAPS, config_map("a"), "default")
    assert eventually(lambda: calls == ["a"])
    client.create(CONFIG_MAPS, config_map("b"), "default")
    other = heard(factory.informer(CONFIG_MAPS, "default", label_selector="!x"))

    assert eventually(lambda: "add b" in other)
    assert calls == ["a"]


def test_a_watch_that_has_lasted_its_time_is_renewed_and_misses_nothing(monkeypatch):
    clock = FakeClock()
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
    server = ApiServer(options=options, store=MemoryStore(), clock=clock)
    server.start()
    client = server.client(LOOPBACK)
    factory = InformerFactory(client, clock)
    opened = []
    watch = client.watch
    monkeypatch.setattr(client, "watch", lambda *args, **kwargs: opened.append(1) or watch(*args, **kwargs))
    log = heard(factory.informer(CONFIG_MAPS, "default"))
    factory.start()
    assert eventually(lambda: opened)
    client.create(CONFIG_MAPS, config_map("a"), "default")
    assert eventually(lambda: log == ["add a"])

    assert eventually(lambda: clock.advance(100) or len(opened) > 1)
    client.create(CONFIG_MAPS, config_map("b"), "default")

    assert eventually(lambda: log == ["add a", "add b"])
    factory.stop()
    server.close()


def test_what_fills_the_cache_is_what_a_list_has(server, client):
    client.create(CONFIG_MAPS, config_map("a", key="value"), "default")
    options = ListOptions(CONFIG_MAPS, "default")
    for storage in (served.storage for served in server.registry.resources() if served.storage is not None):
        if storage.prefix.endswith("/configmaps/"):
            storage.forget()  # read from the store again

    filling = [*client.list_projected(options, dict)]
    cached = [*client.list_projected(options, dict)]

    listed = client.list(CONFIG_MAPS, "default")
    assert items_of(filling) == items_of(cached) == listed.items
    assert {piece.resource_version for piece in filling + cached} == {listed.resource_version}
    assert [type(obj["metadata"]["resourceVersion"]) for obj in listed.items] == [str] * len(listed.items)


def items_of(pieces):
    return [obj for piece in pieces for obj in piece.items]


class Slices(TimeSlices):
    """Counts how often what computes would give way."""

    def __init__(self):
        super().__init__(None)
        self.rests = 0

    def rest(self):
        self.rests += 1


@pytest.mark.parametrize("count", [0, 1, TOGETHER, 3 * TOGETHER + 1])
def test_a_list_comes_in_pieces_of_one_version_and_others_have_their_turn_between_two(server, count):
    slices = Slices()
    client = InProcessClient(
        server.request_path, LOOPBACK, SystemClock(), SharedThreads("test", SystemClock()), slices=slices
    )
    for number in range(count):
        client.create(CONFIG_MAPS, config_map(f"m{number:03}"), "pieces")

    pieces = [*client.list_projected(ListOptions(CONFIG_MAPS, "pieces"), dict)]

    assert [name_of(obj) for obj in items_of(pieces)] == [f"m{number:03}" for number in range(count)]
    assert len({piece.resource_version for piece in pieces}) == 1
    assert max(len(piece.items) for piece in pieces) <= TOGETHER
    assert slices.rests == len(pieces) - 1 == count // TOGETHER


def test_an_informer_that_is_behind_takes_a_few_events_and_gives_way_before_the_next(server):
    slices = Slices()
    client = InProcessClient(
        server.request_path, LOOPBACK, SystemClock(), SharedThreads("test", SystemClock()), slices=slices
    )
    watch = client.watch(CONFIG_MAPS, "behind")
    for number in range(2 * TOGETHER + 1):
        client.create(CONFIG_MAPS, config_map(f"m{number:03}"), "behind")

    looks = [watch.take() for _ in range(4)]
    watch.close()

    assert [len(look.events) for look in looks] == [TOGETHER, TOGETHER, 1, 0]
    assert [look.seconds for look in looks[:3]] == [0.0, 0.0, REST_SECONDS]
    assert slices.rests == 2


def test_a_projection_that_fails_costs_its_reader_alone(server, client):
    client.create(SECRETS, {"metadata": {"name": "a"}}, "default")
    next(each.storage for each in server.registry.resources() if each.group_resource.resource == "secrets").forget()

    def failing(_obj):
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        list(client.list_projected(ListOptions(SECRETS, "default"), failing))

    assert name_of(client.get(SECRETS, "a", "default")) == "a"


def test_what_is_read_from_the_store_gives_way_to_the_loop_of_the_connections(monkeypatch):
    ways = []

    def give_way(loop):
        ways.append(loop)

    monkeypatch.setattr(EdgeLoop, "give_way", give_way)
    loop = EdgeLoop()
    options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
    server = ApiServer(options=options, store=MemoryStore(), loop=loop)
    server.start()
    client = server.client(LOOPBACK)
    for number in range(50):
        client.create(CONFIG_MAPS, config_map(f"m{number:03}"), "default")
    server.registry.get(CONFIG_MAPS).storage.forget()
    monkeypatch.setattr("hyperkube_lib.serving.loop.SLICE_SECONDS", 0.0)
    # A slice lasts 3 ms, and as long as the way before it: here no time at all, from now on.
    monkeypatch.setattr("hyperkube_lib.serving.loop._monotonic", lambda: 1e12)
    ways.clear()

    listed = client.list(CONFIG_MAPS, "default")
    server.close()

    assert len(listed.items) == 50
    assert len(ways) >= 5
    assert set(ways) == {loop}
