"""What FailedScheduling says, to the letter, from the filters' reasons to what came of preemption."""

import pytest

pytest.importorskip("numpy")
pytest.importorskip("hyperkube_scheduler.default_provider")

from hyperkube_host.scheduler.simulation import simulate
from hyperkube_testing.scheduling.tables import node

TAINT = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
NO_HELP = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"


def nodes(count, prefix="n", **words):
    return [{**node(f"{prefix}{index}", **words), "kind": "Node"} for index in range(count)]


def pod(name="wanted", cpu="2", *, on="", **spec):
    container = {"name": "c", "resources": {"requests": {"cpu": cpu}}}
    spec = {"containers": [container], **({"nodeName": on} if on else {}), **spec}
    return {"kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def only_on(*names):
    fields = [{"key": "metadata.name", "operator": "In", "values": list(each)} for each in names]
    rule = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": rule}}


def claimed(name):
    return [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]


CLASS = {"kind": "StorageClass", "metadata": {"name": "now"}, "provisioner": "example.com/disk"}
CLAIM = {
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "slow", "namespace": "default"},
    "spec": {"storageClassName": "now", "resources": {"requests": {"storage": "1Gi"}}},
}
FULL = [*nodes(3, cpu="2"), *(pod(f"old{index}", on=f"n{index}") for index in range(3))]


@pytest.mark.parametrize(
    ("cluster", "wanted", "message"),
    [
        pytest.param(
            [*nodes(3, cpu="1"), *nodes(2, "t", taints=[TAINT])],
            pod(),
            "0/5 nodes are available: 2 node(s) had untolerated taint(s), 3 Insufficient cpu."
            f" preemption: 0/5 nodes are available: 5 {NO_HELP}.",
            id="too small or tainted",
        ),
        pytest.param(
            [*FULL, *nodes(2, "t", taints=[TAINT])],
            pod(),
            "0/5 nodes are available: 2 node(s) had untolerated taint(s), 3 Insufficient cpu."
            f" preemption: 0/5 nodes are available: 2 {NO_HELP}, 3 {NO_VICTIMS}.",
            id="full of pods as important",
        ),
        pytest.param(
            FULL,
            pod(preemptionPolicy="Never", priority=5),
            "0/3 nodes are available: 3 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.",
            id="must not preempt",
        ),
        pytest.param(
            [*nodes(2, cpu="1"), *nodes(1, "u", unschedulable=True), *nodes(1, "p", pods="0")],
            pod(nodeSelector={"disk": "ssd"}),
            "0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match Pod's node affinity/selector."
            f" preemption: 0/4 nodes are available: 4 {NO_HELP}.",
            id="the first reason of a node counts",
        ),
        pytest.param(
            [*nodes(1, cpu="1", pods="0"), *nodes(1, "m", cpu="1")],
            pod(),
            "0/2 nodes are available: 1 Too many pods, 2 Insufficient cpu."
            f" preemption: 0/2 nodes are available: 2 {NO_HELP}.",
            id="one filter may give several",
        ),
        pytest.param(
            [*FULL, *nodes(1, "t", taints=[TAINT])],
            pod(affinity=only_on(["n1"])),
            "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't satisfy plugin(s) [NodeAffinity]."
            f" preemption: 0/4 nodes are available: 1 {NO_VICTIMS}, 3 {NO_HELP}.",
            id="a daemon set's pod",
        ),
        pytest.param(
            nodes(2),
            pod(affinity=only_on(["n0"], ["n1"])),
            f"0/2 nodes are available: pod affinity terms conflict. preemption: 0/2 nodes are available: 2 {NO_HELP}.",
            id="terms that contradict each other",
        ),
        pytest.param(
            nodes(2, cpu="1"),
            pod(volumes=claimed("gone")),
            '0/2 nodes are available: persistentvolumeclaim "gone" not found.'
            f" preemption: 0/2 nodes are available: 2 {NO_HELP}.",
            id="a claim that does not exist",
        ),
        pytest.param(
            [*nodes(1), CLASS, CLAIM],
            pod(volumes=claimed("slow")),
            "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
            f" preemption: 0/1 nodes are available: 1 {NO_HELP}.",
            id="a claim that is bound later",
        ),
        pytest.param([], pod(), "no nodes available to schedule pods", id="no nodes at all"),
    ],
)
def test_the_message_says_how_many_nodes_and_why(cluster, wanted, message):
    outcome = simulate(cluster, [wanted], {})

    assert outcome.pending == {"default/wanted": message}
