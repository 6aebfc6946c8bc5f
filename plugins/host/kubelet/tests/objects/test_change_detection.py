"""How changes of Secrets and ConfigMaps are seen."""

import pytest
from hyperkube_host.kubelet.objects.change_detection import (
    CACHE,
    GET,
    STRATEGIES,
    WATCH,
    CachedStore,
    WatchedStore,
    check_strategy,
    ttl_of,
)
from hyperkube_host.kubelet.objects.object_cache import ObjectCache

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import NotFound, UsageError
from hyperkube.testing.waiting import eventually

NODE = {"metadata": {"annotations": {"node.alpha.kubernetes.io/ttl": "15"}}}


def pod(uid="u", name="cm"):
    volumes = [{"name": "v", "configMap": {"name": name}}]
    return {"metadata": {"name": uid, "namespace": "ns", "uid": uid}, "spec": {"containers": [], "volumes": volumes}}


class CountingClient(FakeClient):
    """Counts reads of single objects, and notes the watches."""

    def __init__(self, clock):
        super().__init__(clock)
        self.reads = 0
        self.selectors = []

    def get(self, *arguments, **named):
        self.reads += 1
        return super().get(*arguments, **named)

    def watch(self, resource, *arguments, **named):
        self.selectors.append(named.get("field_selector"))
        return super().watch(resource, *arguments, **named)


class Api:
    """A ConfigMap and the kubelet's view of it."""

    def __init__(self, strategy, clock):
        self.client = CountingClient(clock)
        self.objects = ObjectCache(self.client, clock, None, strategy, lambda: NODE)

    def write(self, value, **fields):
        body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "cm"}, "data": {"k": value}, **fields}
        try:
            body["metadata"] = self.client.get(CONFIG_MAPS, "cm", "ns")["metadata"]
        except NotFound:
            self.client.create(CONFIG_MAPS, body, "ns")
        else:
            self.client.update(CONFIG_MAPS, body, "ns")
        self.client.reads = 0

    def value(self):
        return self.objects.config_map("ns", "cm")["data"]["k"]


@pytest.fixture
def api(request):
    api = Api(request.param, SystemClock() if request.param == WATCH else FakeClock())
    yield api
    api.objects.close()


each = pytest.mark.parametrize("api", STRATEGIES, indirect=True)


@each
def test_an_object_that_is_not_there_is_named_by_its_kind(api):
    api.objects.register(pod())

    with pytest.raises(NotFound, match=r'^configmap "cm" not found$'):
        api.value()


@each
def test_an_object_that_no_pod_is_known_to_name_is_read(api):
    api.write("1")

    assert api.value() == "1"


@each
def test_a_pod_that_comes_later_sees_what_was_written_before(api):
    api.write("1")
    api.objects.register(pod("first"))
    api.value()
    api.write("2")

    api.objects.unregister("first")
    api.objects.register(pod("second"))

    assert api.value() == "2"


@pytest.mark.parametrize("api", [GET], indirect=True)
def test_get_asks_each_time(api):
    api.write("1")
    api.objects.register(pod())

    assert [api.value() for _ in range(3)] == ["1"] * 3
    assert api.client.reads == 3


@pytest.mark.parametrize("api", [CACHE], indirect=True)
def test_cache_asks_again_when_the_nodes_time_is_over(api):
    clock = api.objects._clock
    api.write("1")
    api.objects.register(pod())
    api.value()
    api.write("2")

    seen = [api.value()]
    clock.advance(14)
    seen.append(api.value())
    clock.advance(2)
    seen.append(api.value())

    assert seen == ["1", "1", "2"]
    assert api.client.reads == 1


@pytest.mark.parametrize("api", [CACHE], indirect=True)
def test_cache_asks_again_for_the_next_pod_that_names_the_object(api):
    api.write("1")
    api.objects.register(pod("a"))
    api.value()
    api.write("2")

    api.objects.register(pod("b"))

    assert api.value() == "2"


@pytest.mark.parametrize("api", [WATCH], indirect=True)
def test_watch_is_told_and_reads_nothing(api):
    api.write("1")
    api.objects.register(pod())
    assert api.value() == "1"
    api.write("2")

    eventually(lambda: api.value() == "2")

    assert api.client.reads == 0
    assert api.client.selectors == ["metadata.name=cm"]


@pytest.mark.parametrize("api", [WATCH], indirect=True)
def test_an_object_has_one_watch_as_long_as_one_pod_names_it(api):
    api.write("1")
    for uid in ("a", "b"):
        api.objects.register(pod(uid))
    api.value()
    api.objects.unregister("a")
    api.write("2")
    eventually(lambda: api.value() == "2")
    assert (len(api.client.selectors), api.client.reads) == (1, 0)

    api.objects.unregister("b")

    assert (api.value(), api.client.reads) == ("2", 1)


@pytest.mark.parametrize("api", [WATCH], indirect=True)
def test_what_never_changes_is_not_watched_on(api):
    api.write("1", immutable=True)
    api.objects.register(pod())

    assert [api.value() for _ in range(2)] == ["1", "1"]

    assert not api.objects._stores["configmaps"]._watched
    assert api.client.reads == 0


@pytest.mark.parametrize("api", [CACHE, WATCH], indirect=True)
def test_a_pod_that_names_another_object_lets_the_first_one_go(api):
    api.write("1")
    api.objects.register(pod())
    api.value()

    api.objects.register(pod(name="other"))
    api.write("2")

    assert (api.value(), api.client.reads) == ("2", 1)


def test_another_strategy_is_refused():
    with pytest.raises(UsageError, match=r"unknown configmap and secret manager mode: \"Often\" \(one of Watch, Cache"):
        check_strategy("Often")


@pytest.mark.parametrize(("node", "seconds"), [(NODE, 15.0), ({}, 60.0), ({"metadata": {}}, 60.0)])
def test_the_node_tells_how_long_an_object_is_kept(node, seconds):
    assert ttl_of(node) == seconds


@pytest.fixture
def store():
    """A store that has one watch over its network, and reads the rest anew after fifteen seconds."""
    client, clock = CountingClient(FakeClock()), FakeClock()
    beyond = CachedStore(client, clock, CONFIG_MAPS, lambda: 15.0)
    for name in ("a", "b"):
        client.create(CONFIG_MAPS, {"metadata": {"name": name}, "data": {"k": "1"}}, "ns")
    store = WatchedStore(client, SystemClock(), CONFIG_MAPS, beyond, most=1)
    yield store, client, clock
    store.close()


def rewrite(client, name, **fields):
    client.patch(CONFIG_MAPS, name, {"data": {"k": "2"}, **fields}, "ns")


def test_beyond_so_many_watches_objects_are_read_again_after_a_while(store):
    watched, client, clock = store
    for name in ("a", "b"):
        watched.follow("ns", name)
    before = [watched.get("ns", name)["data"]["k"] for name in ("a", "b")]
    client.reads = 0
    for name in ("a", "b"):
        rewrite(client, name)
    eventually(lambda: watched.get("ns", "a")["data"]["k"] == "2")

    seen = [watched.get("ns", "b")["data"]["k"]]
    clock.advance(16)
    seen.append(watched.get("ns", "b")["data"]["k"])

    assert (before, seen, client.reads) == (["1", "1"], ["1", "2"], 1)
    assert client.selectors == ["metadata.name=a"]


def test_a_pod_that_comes_later_gets_a_watch_that_has_become_free_or_reads_at_once(store):
    watched, client, _clock = store
    for name in ("a", "b"):
        watched.follow("ns", name)
        watched.get("ns", name)
    rewrite(client, "b")
    watched.follow("ns", "b")
    assert watched.get("ns", "b")["data"]["k"] == "2"

    watched.forget("ns", "a")
    watched.follow("ns", "b")
    watched.get("ns", "b")
    eventually(lambda: client.selectors == ["metadata.name=a", "metadata.name=b"])


def test_what_never_changes_is_read_once_also_beyond(store):
    watched, client, clock = store
    rewrite(client, "b", immutable=True)
    for name in ("a", "b"):
        watched.follow("ns", name)
    watched.get("ns", "b")
    client.reads = 0
    clock.advance(100)

    assert (watched.get("ns", "b")["data"]["k"], client.reads) == ("2", 0)
    watched.forget("ns", "b")
    watched.get("ns", "b")
    assert client.reads == 1
