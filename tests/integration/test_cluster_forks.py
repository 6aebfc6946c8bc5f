"""Clusters that begin as another one was: they have all of it, and nothing of what happens elsewhere."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest
from hyperkube_host.apiserver.storage.routed_store import RoutedStore
from hyperkube_storage.sqlite import SqliteStore
from hyperkube_testing.cluster.cluster import ControlPlane

from hyperkube.kinds.resources import CONFIG_MAPS, DEPLOYMENTS, NAMESPACES, NODES, PODS
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import NotFound
from hyperkube.storage.memory import MemoryStore

OBJECTS = 200
FORKS = 100


def config_map(name, **data):
    return {"metadata": {"name": name}, "data": data}


def values(cluster):
    return {
        item["metadata"]["name"]: item.get("data", {}) for item in cluster.client.list(CONFIG_MAPS, "default").items
    }


@pytest.fixture(scope="module")
def seed():
    with ControlPlane(controller_manager=None, scheduler=None) as cluster:
        for number in range(OBJECTS):
            cluster.client.create(CONFIG_MAPS, config_map(f"seed-{number:03}", n=str(number)), "default")
        return cluster.snapshot()


def test_a_fork_has_what_the_seed_has_with_the_same_versions(seed):
    with seed.cluster() as one, seed.cluster() as other:
        left, right = (cluster.client.list(CONFIG_MAPS, "default") for cluster in (one, other))

    assert [item["metadata"]["name"] for item in left.items] == [f"seed-{n:03}" for n in range(OBJECTS)]
    assert left == right


def test_a_hundred_tests_at_once_do_not_see_each_other(seed):
    def run(number):
        with seed.cluster() as cluster:
            client = cluster.client
            client.create(CONFIG_MAPS, config_map("mine", of=str(number)), "default")
            client.delete(CONFIG_MAPS, f"seed-{number:03}", "default")
            client.patch(CONFIG_MAPS, "seed-150", {"data": {"n": f"of {number}"}}, "default")
            return number, values(cluster)

    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(run, range(FORKS)))

    expected = {f"seed-{n:03}": {"n": str(n)} for n in range(OBJECTS)}
    for number, seen in found:
        own = {**expected, "mine": {"of": str(number)}, "seed-150": {"n": f"of {number}"}}
        del own[f"seed-{number:03}"]
        assert seen == own
    with seed.cluster() as untouched:
        assert values(untouched) == expected


def test_what_is_changed_before_it_is_first_read_is_read_changed(seed):
    with seed.cluster() as cluster:
        cluster.client.create(CONFIG_MAPS, config_map("early"), "default")
        cluster.client.delete(CONFIG_MAPS, "seed-000", "default")

        names = list(values(cluster))

    assert names[0] == "early"
    assert "seed-000" not in names
    assert len(names) == OBJECTS


def test_the_seed_may_go_on_and_go_away(seed):
    with seed.cluster() as parent:
        parent.client.create(CONFIG_MAPS, config_map("before"), "default")
        child = parent.fork()
        parent.client.create(CONFIG_MAPS, config_map("after"), "default")
    with child:
        assert "before" in values(child)
        with pytest.raises(NotFound):
            child.client.get(CONFIG_MAPS, "after", "default")


def test_a_snapshot_of_a_cluster_at_work_is_one_moment(seed):
    with seed.cluster() as parent:
        ended = threading.Event()
        written = []

        def write():
            while not ended.is_set():
                made = parent.client.create(CONFIG_MAPS, config_map(f"w-{len(written)}"), "default")
                written.append(made["metadata"]["name"])

        writer = threading.Thread(target=write)
        writer.start()
        try:
            parent.wait(lambda: len(written) > 5, "a few writes", 60)
            known = len(written)
            child = parent.fork()
        finally:
            ended.set()
            writer.join()
        with child:
            found = [name for name in values(child) if name.startswith("w-")]

    assert len(found) >= known
    assert sorted(found) == sorted(f"w-{n}" for n in range(len(found)))


def test_history_goes_along(seed):
    with seed.cluster() as parent:
        first = parent.client.create(CONFIG_MAPS, config_map("a", v="1"), "default")["metadata"]["resourceVersion"]
        parent.client.patch(CONFIG_MAPS, "a", {"data": {"v": "2"}}, "default")
        child = parent.fork()
    with child:
        path = f"/api/v1/namespaces/default/configmaps?resourceVersion={first}&resourceVersionMatch=Exact"
        then = orjson.loads(child.client.request("GET", path).body)

        assert [item["data"]["v"] for item in then["items"] if item["metadata"]["name"] == "a"] == ["1"]


def test_controllers_scheduler_and_nodes_of_a_fork_are_its_own():
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "any"}]}}
    web = {
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }

    def ready(cluster):
        return cluster.client.get(DEPLOYMENTS, "web", "default")["status"].get("readyReplicas")

    with ControlPlane(hollow_nodes=1) as parent:
        parent.client.create(DEPLOYMENTS, web, "default")
        parent.wait(lambda: ready(parent) == 2, "two pods", 60)
        child = parent.fork()
        with child:
            child.client.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 3}}, "default")
            child.wait(lambda: ready(child) == 3, "three pods", 60)

            assert len(parent.client.list(PODS, "default").items) == 2
            assert [node["metadata"]["name"] for node in child.client.list(NODES).items] == ["hollow-0"]


def test_each_fork_has_the_time_for_itself():
    clock = FakeClock()
    with ControlPlane(clock=clock, controller_manager=None, scheduler=None) as parent:
        clock.advance(60)
        seed = parent.snapshot()
    with seed.cluster() as one, seed.cluster() as other:
        one.clock.advance(3600)

        made = [cluster.client.create(CONFIG_MAPS, config_map("a"), "default") for cluster in (one, other)]

    assert [obj["metadata"]["creationTimestamp"] for obj in made] == ["2030-01-01T01:01:00Z", "2030-01-01T00:01:00Z"]


def test_arguments_can_be_changed(seed):
    with seed.cluster(controller_manager={"controllers": ["namespace"]}, apiserver={"event-ttl": 60}) as cluster:
        cluster.client.create(NAMESPACES, {"metadata": {"name": "gone"}})
        cluster.client.delete(NAMESPACES, "gone")

        cluster.wait(lambda: "gone" not in [n["metadata"]["name"] for n in cluster.client.list(NAMESPACES).items], "it")


def test_a_cluster_on_a_file_is_forked_into_a_file(tmp_path):
    store = SqliteStore(tmp_path / "storage.db")
    try:
        with ControlPlane(controller_manager=None, scheduler=None, store=store) as parent:
            parent.client.create(CONFIG_MAPS, config_map("a"), "default")
            child = parent.fork()
            parent.client.create(CONFIG_MAPS, config_map("later"), "default")
        with child:
            assert "a" in values(child)
            assert "later" not in values(child)
            child.client.create(CONFIG_MAPS, config_map("own"), "default")
    finally:
        store.close()


def test_a_store_that_cannot_be_forked_says_so():
    store = RoutedStore(MemoryStore(), {})
    with (
        ControlPlane(controller_manager=None, scheduler=None, store=store) as cluster,
        pytest.raises(RuntimeError, match="a cluster on RoutedStore has no snapshots: its store cannot be forked"),
    ):
        cluster.snapshot()
    store.close()


def test_forks_leave_no_thread_behind(seed):
    before = set(threading.enumerate())

    for _ in range(3):
        with seed.cluster() as cluster:
            assert values(cluster)
    gc.collect()

    assert [thread.name for thread in threading.enumerate() if thread not in before] == []


def test_the_fixtures_fork_the_session_s_seed(hyperkube_seed, hyperkube_fork):
    with hyperkube_seed.cluster(controller_manager=None, scheduler=None, hollow_nodes=0) as other:
        hyperkube_fork.client.create(CONFIG_MAPS, config_map("mine"), "default")

        assert "mine" not in values(other)
        assert [node["metadata"]["name"] for node in other.client.list(NODES).items] == ["hollow-0"]


def test_a_revision_that_is_compacted_is_refused_in_words(seed):
    with seed.cluster() as cluster:
        first = cluster.client.create(CONFIG_MAPS, config_map("a", v="1"), "default")["metadata"]["resourceVersion"]
        last = cluster.client.patch(CONFIG_MAPS, "a", {"data": {"v": "2"}}, "default")["metadata"]["resourceVersion"]
        with cluster.fork() as other:
            other._store.compact(int(last))
            path = f"/api/v1/namespaces/default/configmaps?resourceVersion={first}&resourceVersionMatch=Exact"

            refusal = orjson.loads(other.client.request("GET", path).body)
            assert (refusal["code"], refusal["reason"]) == (410, "Expired")
            assert refusal["message"] == "The resourceVersion for the provided list is too old."
