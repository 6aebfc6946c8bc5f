"""What waits for pods to be available, and what counts those that are not; the rows are those of upstream's tests."""

import pytest
from hyperkube_controller.statefulset.rolling_update import count_unavailable, max_unavailable
from stateful_set_rig import World, stateful_set
from test_decision import observed, pods, rolling

from hyperkube.kinds.resources import PODS, STATEFUL_SETS

TIMED = {"minReadySeconds": 30}
PARTITION = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}}


def world_with(replicas, ready_for, **spec):
    """Return a world whose pods have all been ready for so many seconds."""
    world = World(replicas=replicas, podManagementPolicy="Parallel", **spec)
    since = {"type": "Ready", "status": "True", "lastTransitionTime": world.time()}
    for pod in world.client.objects(PODS):
        status = {"phase": "Running", "conditions": [since]}
        world.client.patch(PODS, pod["metadata"]["name"], {"status": status}, "d", subresource="status")
    world.advance(ready_for)
    world.set(podManagementPolicy="OrderedReady")
    return world


@pytest.mark.parametrize(
    ("replicas", "spec", "change", "names", "images"),
    [
        pytest.param(2, {}, {"image": "v2"}, 2, ["v1", "v1"], id="a rolling update"),
        pytest.param(3, {}, {"replicas": 1}, 3, ["v1"] * 3, id="a scale down"),
        pytest.param(4, PARTITION, {"image": "v2"}, 4, ["v1"] * 4, id="a partition"),
    ],
)
def test_it_waits_for_pods_that_are_ready_but_not_available(replicas, spec, change, names, images):
    world = world_with(replicas, 10, **TIMED, **spec)

    world.set_image(change["image"]) if "image" in change else world.set(**change)

    assert world.status()["availableReplicas"] == 0
    assert (len(world.names()), list(world.images().values())) == (names, images)


def test_pods_that_were_ready_for_long_enough_are_replaced():
    world = world_with(2, 60, **TIMED)

    assert world.status()["availableReplicas"] == 2
    world.set_image("v2")

    assert world.images() == {"db-0": "v1", "db-1": "v2"}


def test_on_delete_the_revision_is_told_whatever_is_available():
    world = world_with(2, 10, **TIMED, updateStrategy={"type": "OnDelete"})

    world.set_image("v2")

    assert world.status()["availableReplicas"] == 0
    assert world.status()["updateRevision"] != world.status()["currentRevision"]


def test_without_a_wait_what_is_ready_is_available():
    assert world_with(2, 0, minReadySeconds=0).status()["availableReplicas"] == 2


@pytest.mark.parametrize(
    ("before", "after"), [(3, 30), (10, 1), (40, 0), (0, 60)], ids=["up", "down", "to none", "from none"]
)
def test_in_parallel_any_number_of_pods_comes_and_goes_with_one_sync(before, after):
    world = World(replicas=before, podManagementPolicy="Parallel")
    for pod in world.client.objects(PODS):
        world.client.patch(PODS, pod["metadata"]["name"], {"status": {"phase": "Pending"}}, "d", subresource="status")
    world.client.patch(STATEFUL_SETS, "db", {"spec": {"replicas": after}}, "d")
    world.informers.refresh()

    world.controllers[0].drain()

    assert len(world.names()) == after


@pytest.mark.parametrize(
    ("policy", "replicas", "limit", "gone", "most"),
    [
        pytest.param("OrderedReady", 5, 2, 1, 2, id="ordered, within the limit"),
        pytest.param("Parallel", 10, "20%", 3, 2, id="parallel, over the limit"),
        pytest.param("OrderedReady", 6, 3, 3, 3, id="ordered, at the limit"),
        pytest.param("Parallel", 4, 1, 0, 1, id="parallel, all available"),
        pytest.param("OrderedReady", 8, "25%", 1, 2, id="ordered, a share"),
        pytest.param("Parallel", 5, "80%", 4, 4, id="parallel, a large share"),
        pytest.param("OrderedReady", 2, 1, 1, 1, id="two pods"),
        pytest.param("Parallel", 1, 1, 1, 1, id="one pod"),
    ],
)
def test_the_numbers_of_an_update_with_a_limit(policy, replicas, limit, gone, most):
    owner = stateful_set(replicas, podManagementPolicy=policy, **rolling(maxUnavailable=limit))
    lacking = "unready" if policy == "OrderedReady" else "going"
    made = pods(*[lacking] * gone, *["ready"] * (replicas - gone))

    assert max_unavailable(owner, replicas) == most
    assert count_unavailable(observed(owner, made, gate=True), made) == gone
