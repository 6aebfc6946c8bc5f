"""The disruption controller: how many pods may go."""

import orjson
import pytest
from hyperkube_controller.disruption import Disruption

from hyperkube.client.client import RawResponse
from hyperkube.kinds.resources import DEPLOYMENTS, EVENTS, POD_DISRUPTION_BUDGETS, PODS, REPLICA_SETS
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.times import format_time
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

LABELS = {"app": "web"}
RS = {"kind": "ReplicaSet", "metadata": {"name": "rs", "namespace": "d", "uid": "u-rs"}, "spec": {"replicas": 4}}


def budget(**spec):
    meta = {"name": "b", "namespace": "d"}
    return {"kind": "PodDisruptionBudget", "metadata": meta, "spec": {"selector": {"matchLabels": LABELS}, **spec}}


def pod(number, *, ready=True, owned=True):
    owners = (
        [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "u-rs", "controller": True}]
        if owned
        else []
    )
    return {
        "kind": "Pod",
        "metadata": {"name": f"p{number}", "namespace": "d", "labels": LABELS, "ownerReferences": owners},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }


def rig(spec, *pods):
    rig = ControllerRig(Disruption)
    rig.client.seed(REPLICA_SETS, RS)
    rig.client.seed(PODS, *pods)
    rig.client.seed(POD_DISRUPTION_BUDGETS, budget(**spec))
    rig.settle()
    return rig


def status(rig):
    return rig.client.get(POD_DISRUPTION_BUDGETS, "b", "d")["status"]


class TestContract(ControllerContract):
    plugin = Disruption

    def populate(self, rig):
        rig.client.seed(POD_DISRUPTION_BUDGETS, budget(minAvailable=1))


@pytest.mark.parametrize(
    ("spec", "allowed", "must_stay"),
    [
        ({"minAvailable": 3}, 1, 3),
        ({"minAvailable": "50%"}, 2, 2),
        ({"maxUnavailable": 1}, 1, 3),
        ({"maxUnavailable": "30%"}, 2, 2),
        ({"minAvailable": 9}, 0, 9),
    ],
    ids=str,
)
def test_what_may_go_follows_from_the_budget(spec, allowed, must_stay):
    told = status(rig(spec, *(pod(number) for number in range(4))))

    assert (told["disruptionsAllowed"], told["desiredHealthy"]) == (allowed, must_stay)
    assert (told["currentHealthy"], told["expectedPods"]) == (4, 4)


def test_a_budget_that_waits_for_its_finalizers_still_holds():
    world = ControllerRig(Disruption)
    leaving = budget(minAvailable=1)
    leaving["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/x"]}
    world.client.seed(PODS, pod(1), pod(2))
    world.client.seed(POD_DISRUPTION_BUDGETS, leaving)

    world.settle()

    assert status(world)["disruptionsAllowed"] == 1


def test_a_pod_that_is_not_ready_counts_as_gone():
    assert status(rig({"minAvailable": 2}, pod(1), pod(2), pod(3, ready=False)))["disruptionsAllowed"] == 0


def test_an_announced_disruption_counts_until_the_pod_is_gone_or_two_minutes_have_passed():
    world = rig({"minAvailable": 1}, pod(1), pod(2))
    announced = {"disruptedPods": {"p1": "2030-01-01T00:00:00Z"}, "disruptionsAllowed": 0}
    world.client.patch(POD_DISRUPTION_BUDGETS, "b", {"status": announced}, "d", subresource="status")
    world.settle()
    assert status(world)["disruptionsAllowed"] == 0

    world.advance(121)

    assert status(world)["disruptionsAllowed"] == 1
    assert "disruptedPods" not in status(world)


def events(world):
    world.plugins[0]._recorder.flush()
    return {event["reason"]: event["message"] for event in world.client.objects(EVENTS)}


def test_a_share_of_pods_without_a_controller_is_of_none():
    world = rig({"maxUnavailable": 1}, pod(1, owned=False))

    told = status(world)
    assert (told["disruptionsAllowed"], told["expectedPods"]) == (0, 0)
    assert told["conditions"][0]["reason"] == "InsufficientPods"
    text = (
        "Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},"
        "MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged."
    )
    assert events(world)["UnmanagedPods"].startswith(text)


def test_pods_without_a_controller_do_not_keep_others_from_being_counted():
    assert status(rig({"maxUnavailable": 1}, pod(1, owned=False), pod(2)))["expectedPods"] == 4


def test_a_budget_that_selects_nothing_says_so():
    world = rig({"minAvailable": 1})

    assert events(world)["NoPods"] == "No matching pods found"
    assert status(world)["disruptionsAllowed"] == 0


def owned_by(kind, api_version, name="x", uid="u-x"):
    made = pod(1)
    made["metadata"]["ownerReferences"] = [
        {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": True}
    ]
    return made


def serve(world, path, *rows):
    resources = [{"name": name, "kind": kind} for name, kind in rows]
    body = orjson.dumps({"resources": resources})
    world.client.answer("GET", path, lambda _body: RawResponse(200, {}, body))


THINGS = GroupVersionResource("example.com", "v1", "things")


def unsettled(spec, *pods):
    world = ControllerRig(Disruption)
    world.client.seed(PODS, *pods)
    world.client.seed(POD_DISRUPTION_BUDGETS, budget(**spec))
    return world


def test_any_controller_with_a_scale_counts():
    world = unsettled({"maxUnavailable": "50%"}, owned_by("Thing", "example.com/v1"))
    meta = {"name": "x", "namespace": "d", "uid": "u-x"}
    world.client.seed(THINGS, {"kind": "Thing", "metadata": meta, "spec": {"replicas": 6}})
    serve(world, "/apis/example.com/v1", ("things", "Thing"), ("things/scale", "Scale"))

    world.settle()

    assert (status(world)["expectedPods"], status(world)["desiredHealthy"]) == (6, 3)


@pytest.mark.parametrize(
    ("kind", "version", "rows", "text"),
    [
        ("Job", "batch/v1", [("jobs", "Job")], "jobs.batch does not implement the scale subresource"),
        ("Thing", "example.com/v1", [("things", "Thing"), ("things/scale", "Scale")], 'found no controllers for pod "p1"'),
        ("Thing", "example.com/v1", [], 'no matches for kind "Thing" in version "example.com/v1"'),
    ],
    ids=["without a scale", "gone", "not served"],
)  # fmt: skip
def test_a_controller_whose_scale_is_not_known_lets_nothing_go(kind, version, rows, text):
    world = unsettled({"maxUnavailable": 1}, owned_by(kind, version))
    serve(world, f"/apis/{version}", *rows)

    world.settle()

    (condition,) = status(world)["conditions"]
    assert (condition["status"], condition["reason"], condition["message"]) == ("False", "SyncFailed", text)
    assert status(world)["disruptionsAllowed"] == 0
    told = events(world)["CalculateExpectedPodCountFailed"]
    assert told == f"Failed to calculate the number of expected pods: {text}"


def test_a_deployment_counts_rather_than_its_replica_set():
    world = unsettled({"minAvailable": "50%"}, pod(1))
    above = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u-web", "controller": True}
    world.client.seed(REPLICA_SETS, {**RS, "metadata": {**RS["metadata"], "ownerReferences": [above]}})
    meta = {"name": "web", "namespace": "d", "uid": "u-web"}
    world.client.seed(DEPLOYMENTS, {"kind": "Deployment", "metadata": meta, "spec": {"replicas": 10}})

    world.settle()

    assert status(world)["expectedPods"] == 10


def test_a_disruption_that_did_not_come_is_told():
    world = rig({"minAvailable": 1}, pod(1), pod(2))
    announced = {"disruptedPods": {"p1": "2023-01-01T00:00:00Z"}}
    world.client.patch(POD_DISRUPTION_BUDGETS, "b", {"status": announced}, "d", subresource="status")

    world.settle()

    assert events(world)["NotDeleted"] == "Pod was expected by PDB d/d to be deleted but it wasn't"
    assert "disruptedPods" not in status(world)


def test_a_pod_of_two_budgets_is_told_and_counted_by_both():
    world = rig({"minAvailable": 1}, pod(1))
    other = budget(minAvailable=1)
    other["metadata"]["name"] = "c"
    world.client.seed(POD_DISRUPTION_BUDGETS, other)
    world.settle()
    world.client.patch(PODS, "p1", {"metadata": {"labels": {"new": "x"}}}, "d")

    world.settle()

    text = 'Pod "d"/"p1" matches multiple PodDisruptionBudgets.  Chose "b" arbitrarily.'
    assert events(world)["MultiplePodDisruptionBudgets"] == text
    assert world.client.get(POD_DISRUPTION_BUDGETS, "c", "d")["status"]["currentHealthy"] == 1


def target(reason="EvictionByEvictionAPI", **meta):
    made = pod(1)
    since = "2024-01-01T00:00:00Z"
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason, "lastTransitionTime": since}
    made["status"]["conditions"].append(condition)
    made["metadata"] |= meta
    return made


def disruption_target(world):
    conditions = world.client.get(PODS, "p1", "d")["status"]["conditions"]
    return next(each["status"] for each in conditions if each["type"] == "DisruptionTarget")


def test_a_disruption_target_is_taken_back_after_two_minutes():
    world = ControllerRig(Disruption)
    since = format_time(world.clock.now())
    made = target()
    made["status"]["conditions"][1]["lastTransitionTime"] = since
    world.client.seed(PODS, made)
    world.settle()
    assert disruption_target(world) == "True"

    world.advance(121)

    assert disruption_target(world) == "False"


@pytest.mark.parametrize(
    "made",
    [
        target("TerminationByKubelet"),
        target(deletionTimestamp="2024-01-01T00:00:00Z", finalizers=["x/y"]),
        {**target(), "status": {**target()["status"], "phase": "Failed"}},
    ],
    ids=["by the kubelet", "going", "ended"],
)
def test_a_disruption_target_stays_where_it_may_yet_come_true(made):
    world = ControllerRig(Disruption)
    world.client.seed(PODS, made)

    world.advance(3600)

    assert disruption_target(world) == "True"
