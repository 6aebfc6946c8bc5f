"""A copied cluster is scheduled as the real one would be, and nothing but the copy changes."""

import copy

import pytest

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

from hyperkube_host.scheduler.simulation import simulate
from hyperkube_testing.scheduling.tables import node

from hyperkube.machinery.errors import UsageError

SMALL = {"cpu": "2", "memory": "2Gi", "pods": "10"}


def pod(name, cpu="1", *, on="", priority=0, **spec):
    container = {"name": "c", "image": "i:1", "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}}}
    placed = {"nodeName": on} if on else {}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name.rstrip("0123456789")}},
        "spec": {"containers": [container], "priority": priority, **placed, **spec},
        "status": {"phase": "Running" if on else "Pending"},
    }


def cluster(*names, **words):
    return [{**node(name, **SMALL, **words), "kind": "Node"} for name in names]


def test_pods_are_placed_and_what_does_not_fit_says_why():
    objects = [*cluster("a", "b"), pod("old", on="a")]
    untouched = copy.deepcopy(objects)

    outcome = simulate(objects, [pod(f"web{index}") for index in range(4)], {})

    assert len(outcome.placed) == 3
    (reason,) = outcome.pending.values()
    assert reason.startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert outcome.before["a"]["cpu"].share == 0.5
    assert [outcome.after[name]["cpu"].share for name in "ab"] == [1.0, 1.0]
    assert objects == untouched


def test_pods_that_wait_in_the_cluster_are_scheduled_too():
    outcome = simulate([*cluster("a"), pod("waiting")], [], {})

    assert outcome.placed == {"default/waiting": "a"}


def test_a_pod_of_high_priority_evicts_and_gets_the_place():
    objects = [*cluster("a"), pod("low0", on="a"), pod("low1", on="a")]

    outcome = simulate(objects, [pod("urgent", "2", priority=100)], {})

    assert outcome.placed == {"default/urgent": "a"}
    assert outcome.evicted == {"default/low0": "a", "default/low1": "a"}


def test_the_more_important_pods_come_first():
    pods = [pod("cheap", "2"), pod("dear", "2", priority=10)]

    outcome = simulate(cluster("a"), pods, {})

    assert outcome.placed == {"default/dear": "a"}
    assert list(outcome.pending) == ["default/cheap"]


def test_a_claim_that_waits_for_its_first_user_gets_a_volume():
    objects = [
        *cluster("a"),
        {
            "kind": "StorageClass",
            "metadata": {"name": "fast"},
            "provisioner": "example.com/disk",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": "default"},
            "spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}},
        },
    ]
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]

    outcome = simulate(objects, [pod("db", volumes=volumes)], {})

    assert outcome.placed == {"default/db": "a"}


def test_gated_pods_and_those_of_other_schedulers_say_so():
    pods = [pod("gated", schedulingGates=[{"name": "example.com/wait"}]), pod("foreign", schedulerName="other")]

    outcome = simulate(cluster("a"), pods, {})

    assert outcome.pending == {
        "default/gated": "waits for its scheduling gates: example.com/wait",
        "default/foreign": "no profile has the scheduler name 'other'",
    }


def test_the_same_seed_gives_the_same_places(tmp_path):
    pods = [pod(f"web{index}", "100m") for index in range(30)]

    outcomes = [simulate(cluster(*"abcdef"), pods, {}).placed for _ in range(2)]

    assert outcomes[0] == outcomes[1]


def test_another_provider_packs_instead_of_spreading():
    pytest.importorskip("hyperkube_scheduler.cluster_autoscaler_provider")
    pods = [pod(f"web{index}", "500m") for index in range(4)]

    spread = simulate(cluster("a", "b"), pods, {})
    packed = simulate(cluster("a", "b"), pods, {"algorithm-provider": "ClusterAutoscalerProvider"})

    assert len(set(spread.placed.values())) == 2
    assert len(set(packed.placed.values())) == 1


def test_one_name_twice_is_a_mistake():
    with pytest.raises(UsageError, match="Pod 'default/web' is there twice"):
        simulate([*cluster("a"), pod("web", on="a")], [pod("web")], {})
