"""The disruption controller: how many pods may go."""

import pytest
from hyperkube_controller.disruption import Disruption

from hyperkube.kinds.resources import POD_DISRUPTION_BUDGETS, PODS, REPLICA_SETS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

LABELS = {"app": "web"}
RS = {"kind": "ReplicaSet", "metadata": {"name": "rs", "namespace": "d", "uid": "u-rs"}, "spec": {"replicas": 4}}


def budget(**spec):
    meta = {"name": "b", "namespace": "d"}
    return {"kind": "PodDisruptionBudget", "metadata": meta, "spec": {"selector": {"matchLabels": LABELS}, **spec}}


def pod(number, *, ready=True, owned=True):
    owners = [{"kind": "ReplicaSet", "name": "rs", "uid": "u-rs", "controller": True}] if owned else []
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


def test_a_share_of_pods_without_a_controller_cannot_be_told():
    told = status(rig({"maxUnavailable": 1}, pod(1, owned=False)))

    assert told["disruptionsAllowed"] == 0
    assert told["conditions"][0]["reason"] == "SyncFailed"
