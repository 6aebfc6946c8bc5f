"""Whole runs of stateful sets; the rows are those of upstream's ``stateful_set_control_test.go``."""

import pytest
from stateful_set_rig import World, claims, events, stateful_set

from hyperkube.kinds.resources import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from hyperkube.machinery.errors import Conflict, InternalError, NotFound

POLICIES = ["OrderedReady", "Parallel"]
SIZES = [pytest.param(3, 3, id="same size"), pytest.param(3, 5, id="up"), pytest.param(5, 3, id="down")]
DOWN = InternalError("API server failed")


def running(replicas=3, **spec):
    """Return a world in which all pods of a set are ready."""
    world = World(replicas=replicas, **spec)
    world.ready(replicas + 1)
    assert world.status()["readyReplicas"] == replicas
    return world


def run(world, policy, rounds=8):
    """Let pods become ready one after the other; in order, none comes before all those before it are ready."""
    for _ in range(rounds):
        pods = {pod["metadata"]["name"]: pod for pod in world.client.objects(PODS)}
        waiting = [name for name, pod in sorted(pods.items()) if not pod["status"].get("conditions")]
        assert policy == "Parallel" or len(waiting) <= 1
        world.ready()


def images(world, replicas):
    found = world.images()
    assert sorted(found) == [f"db-{ordinal}" for ordinal in range(replicas)]
    return [found[f"db-{ordinal}"] for ordinal in range(replicas)]


def change(world, replicas, image):
    template = {"spec": {"containers": [{"name": "c", "image": image}]}}
    world.set(replicas=replicas, template=template)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("before", "after"), SIZES)
def test_an_update_and_back_again(policy, before, after):
    world = running(before, podManagementPolicy=policy)

    change(world, after, "v2")
    run(world, policy)
    updated = images(world, after), world.status()
    change(world, after, "v1")
    run(world, policy)

    assert updated[0] == ["v2"] * after
    assert updated[1]["currentReplicas"] == updated[1]["updatedReplicas"] == after
    assert updated[1]["currentRevision"] == updated[1]["updateRevision"]
    assert images(world, after) == ["v1"] * after
    assert len(world.client.objects(CONTROLLER_REVISIONS)) == 2


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("before", "after"), SIZES)
def test_on_delete_only_new_pods_are_of_the_new_template(policy, before, after):
    world = running(before, podManagementPolicy=policy, updateStrategy={"type": "OnDelete"})

    change(world, after, "v2")
    run(world, policy)
    updated = images(world, after)
    world.set(replicas=0)
    run(world, policy)
    world.set(replicas=after)
    run(world, policy)

    assert updated == ["v1"] * 3 + ["v2"] * (after - 3)
    assert images(world, after) == ["v2"] * after


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("before", "after"), SIZES[:2])
def test_pods_below_the_partition_keep_their_template(policy, before, after):
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    world = running(before, podManagementPolicy=policy, updateStrategy=strategy)

    change(world, after, "v2")
    run(world, policy)

    assert images(world, after) == ["v1"] * 2 + ["v2"] * (after - 2)
    assert world.status()["currentRevision"] != world.status()["updateRevision"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
@pytest.mark.parametrize("refused", [False, True], ids=["deleted", "deleted at the second try"])
def test_an_ended_pod_is_replaced(policy, phase, refused):
    world = World(podManagementPolicy=policy)
    before = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in world.client.objects(PODS)}
    if refused:
        world.client.fail_next("delete", "pods", DOWN)

    world.client.patch(PODS, "db-0", {"status": {"phase": phase}}, "d", subresource="status")
    world.advance(1)

    after = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in world.client.objects(PODS)}
    assert {name for name in after if after[name] != before[name]} == {"db-0"}
    told = {(kind, reason) for kind, reason, _ in events(world) if reason.endswith("Delete")}
    assert told == {("Normal", "SuccessfulDelete")} | ({("Warning", "FailedDelete")} if refused else set())


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("verb", "resource"),
    [("create", "pods"), ("create", "persistentvolumeclaims"), ("create", "controllerrevisions"), ("update", "statefulsets")],
)  # fmt: skip
def test_a_request_that_fails_is_made_again(policy, verb, resource):
    world = World(replicas=0, podManagementPolicy=policy)
    if resource == "controllerrevisions":
        change(world, 0, "v2")
    world.client.fail_next(verb, resource, DOWN)

    change(world, 3, "v3")
    for _ in range(5):
        world.advance(1)
        world.ready()

    assert images(world, 3) == ["v3"] * 3
    counts = ("replicas", "readyReplicas", "updatedReplicas")
    assert [world.status()[each] for each in counts] == [3, 3, 3]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_scale_down_goes_on_after_a_failure(policy):
    world = running(3, podManagementPolicy=policy)
    world.client.fail_next("delete", "pods", DOWN)

    world.set(replicas=0)
    for _ in range(4):
        world.advance(1)

    assert world.names() == []
    assert world.status()["replicas"] == 0


@pytest.mark.parametrize("policy", POLICIES)
def test_a_pod_that_could_not_be_deleted_for_an_update_is_a_current_one(policy):
    world = running(3, podManagementPolicy=policy)
    world.client.patch(STATEFUL_SETS, "db", {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "v2"}]}}}}, "d")  # fmt: skip
    world.client.fail_next("delete", "pods", DOWN)
    world.informers.refresh()

    world.controllers[0].drain()
    failed = world.status()
    world.informers.refresh()
    world.clock.advance(1)
    world.controllers[0].drain()

    assert (failed["currentReplicas"], failed["currentRevision"] != failed["updateRevision"]) == (3, True)
    assert world.status()["currentReplicas"] == 2


@pytest.mark.parametrize(
    ("create", "status"), [(False, False), (True, False), (False, True), (True, True)], ids=["fine", "pod", "status", "both"]
)  # fmt: skip
def test_the_status_is_written_and_the_history_kept_short_whatever_fails(create, status):
    world = running(1, revisionHistoryLimit=0)
    change(world, 1, "v2")
    world.ready(2)
    world.set(replicas=1, template={"spec": {"containers": [{"name": "c", "image": "v3"}]}})
    world.ready()
    world.client.patch(STATEFUL_SETS, "db", {"spec": {"replicas": 2}}, "d")
    stray = {
        "metadata": {**world.client.objects(CONTROLLER_REVISIONS)[0]["metadata"], "name": "db-stray"},
        "revision": 0,
    }
    stray["metadata"].pop("uid")
    world.client.seed(CONTROLLER_REVISIONS, {"kind": "ControllerRevision", "apiVersion": "apps/v1", **stray})
    if create:
        world.client.fail_next("create", "pods", DOWN)
    if status:
        world.client.fail_next("update", "statefulsets", InternalError("no status"))
    world.informers.refresh()
    before = world.status()["observedGeneration"]

    world.controllers[0].drain()

    assert len(world.names()) == (1 if create else 2)
    assert (world.status()["observedGeneration"] > before) is not status
    assert "db-stray" not in {each["metadata"]["name"] for each in world.client.objects(CONTROLLER_REVISIONS)}


@pytest.mark.parametrize(
    ("limit", "kept"), [(0, 1), (2, 3), (5, 6), (10, 9), (-2, 9)], ids=["none", "two", "five", "more", "no limit"]
)
@pytest.mark.parametrize("policy", POLICIES)
def test_the_history_is_limited(policy, limit, kept):
    world = running(1, podManagementPolicy=policy, revisionHistoryLimit=limit)

    for number in range(8):
        change(world, 1, f"v{number + 2}")
        world.ready(2)

    assert len(world.client.objects(CONTROLLER_REVISIONS)) == kept


def test_claims_are_all_tried_and_told_in_one_text():
    templates = [{"metadata": {"name": name}, "spec": {}} for name in ("data", "logs", "tmp")]
    world = World(replicas=0, volumeClaimTemplates=templates)
    for _ in range(2):
        world.client.fail_next("create", "persistentvolumeclaims", DOWN)
    world.client.patch(STATEFUL_SETS, "db", {"spec": {"replicas": 1}}, "d")
    world.informers.refresh()

    world.controllers[0].drain()

    assert (list(claims(world)), world.names()) == (["tmp-db-0"], [])
    problems = ", ".join(f"failed to create PVC {name}-db-0: {DOWN}" for name in ("data", "logs"))
    assert ("Warning", "FailedCreate", f"create Pod db-0 in StatefulSet db failed error: [{problems}]") in events(world)


def test_a_conflict_with_another_writer_is_no_failure():
    world = running(1)
    world.client.fail_next("update", "pods", Conflict("changed"))

    world.client.patch(PODS, "db-0", {"metadata": {"labels": {"statefulset.kubernetes.io/pod-name": "x"}}}, "d")
    world.settle()

    labels = world.client.get(PODS, "db-0", "d")["metadata"]["labels"]
    assert labels["statefulset.kubernetes.io/pod-name"] == "db-0"
    told = [reason for _, reason, _ in events(world) if reason.endswith("Update")]
    assert told == ["SuccessfulUpdate"]


@pytest.mark.parametrize(
    ("states", "waits"),
    [
        pytest.param(["missing", "missing"], False, id="all missing"),
        pytest.param([], False, id="no claims"),
        pytest.param(["missing", "there"], False, id="one is there"),
        pytest.param(["stale", "there"], True, id="one of an earlier pod, one that is there"),
        pytest.param(["stale", "missing"], True, id="one of an earlier pod, one that is missing"),
        pytest.param(["there", "stale"], True, id="the last one of an earlier pod"),
    ],
)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_pod_waits_for_claims_of_an_earlier_one(policy, states, waits):
    world = World(replicas=0)
    for number, state in enumerate(states):
        meta = {"name": f"claim{number}-db-0", "namespace": "d"}
        if state == "stale":
            meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": "db-0", "uid": "stale"}]
        if state != "missing":
            world.client.seed(PERSISTENT_VOLUME_CLAIMS, {"kind": "PersistentVolumeClaim", "metadata": meta})
    templates = [{"metadata": {"name": f"claim{number}"}, "spec": {}} for number in range(len(states))]
    world.client.delete(STATEFUL_SETS, "db", "d")
    retention = {"whenScaled": "Delete", "whenDeleted": "Retain"}
    world.client.seed(
        STATEFUL_SETS,
        stateful_set(
            1,
            volumeClaimTemplates=templates,
            persistentVolumeClaimRetentionPolicy=retention,
            podManagementPolicy=policy,
        ),
    )

    world.settle()

    if waits:
        with pytest.raises(NotFound):
            world.client.get(PODS, "db-0", "d")
    else:
        assert world.names() == ["db-0"]


@pytest.mark.parametrize(
    ("name", "labels", "owned", "mine"),
    [
        pytest.param("db-1", True, True, True, id="its own"),
        pytest.param("db-1", True, False, True, id="an orphan: adopted"),
        pytest.param("db-1", False, False, False, id="an orphan without the labels"),
        pytest.param("xdb-1", True, False, False, id="an orphan of another name"),
        pytest.param("xdb-1", True, True, False, id="of another name: released"),
        pytest.param("db-1", False, True, False, id="without the labels: released"),
    ],
)
@pytest.mark.parametrize("scaled", ["Retain", "Delete"])
@pytest.mark.parametrize("deleted", ["Retain", "Delete"])
def test_which_pods_are_its_own(name, labels, owned, mine, scaled, deleted):
    policy = {"whenScaled": scaled, "whenDeleted": deleted}
    world = World(replicas=2, volumeClaimTemplates=[], persistentVolumeClaimRetentionPolicy=policy)
    reference = world.client.objects(PODS)[0]["metadata"]["ownerReferences"][0]
    meta = {"name": name, "namespace": "d", "labels": {"app": "db"} if labels else {}}
    meta["ownerReferences"] = [reference] if owned else []
    world.client.seed(PODS, {"kind": "Pod", "metadata": meta, "spec": {}, "status": {"phase": "Running"}})

    world.settle()

    owners = world.client.get(PODS, name, "d")["metadata"].get("ownerReferences") or []
    assert [owner["uid"] for owner in owners] == ([reference["uid"]] if mine else [])
