"""What one sync creates and deletes; the rows are those of upstream's ``daemon_controller_test.go``."""

from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_controller.daemonset import Daemonset
from hyperkube_controller.daemonset.decision import manage
from hyperkube_controller.daemonset.observed import Observed
from hyperkube_controller.daemonset.pods import pod_of, pods_by_node
from hyperkube_controller.daemonset.rolling_update import rolling_update

from hyperkube.kinds.resources import DAEMON_SETS, NODES, PODS
from hyperkube.machinery.times import format_time
from hyperkube.testing.controller_rig import ControllerRig

NOW = datetime(2030, 1, 1, tzinfo=UTC)
STRATEGIES = {
    "OnDelete": {"type": "OnDelete"},
    "RollingUpdate": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
    "surge": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
}
BLUE = {"color": "blue"}


def nodes(plain, blue=0):
    """Make nodes n0, n1 …, of which the last ones are blue."""
    return [
        {"metadata": {"name": f"n{number}", "labels": BLUE if number >= plain else {}}, "spec": {}}
        for number in range(plain + blue)
    ]


def daemon_set(strategy="RollingUpdate", min_ready=0, **spec):
    meta = {"name": "foo", "namespace": "d", "uid": "u"}
    update = STRATEGIES[strategy]
    return {
        "metadata": meta,
        "spec": {"updateStrategy": update, "minReadySeconds": min_ready, "template": {"spec": spec}},
    }


class Pods:
    """Makes pods on nodes."""

    def __init__(self):
        self.made = []

    def add(self, on, count=1, *, revision="new", phase="", ready=None, created=1, going=False):
        """Add pods; `ready` is for how many seconds they have been ready, -1 for not at all."""
        for _ in range(count):
            pod = pod_of(daemon_set(), on, revision)
            meta = {"name": f"p{len(self.made)}", "uid": f"p{len(self.made)}", "creationTimestamp": f"{created:03}"}
            pod["metadata"] |= meta | ({"deletionTimestamp": format_time(NOW)} if going else {})
            pod["spec"]["nodeName"] = on
            pod["status"] = {"phase": phase}
            if ready is not None:
                since = format_time(NOW - timedelta(seconds=max(0, ready)))
                condition = {"type": "Ready", "status": str(ready >= 0), "lastTransitionTime": since}
                pod["status"]["conditions"] = [condition]
            self.made.append(pod)
        return self


def sync(owner, there, pods):
    """Act once as the controller does; return how many pods are created, and which deleted."""
    created, deleted, left = 0, [], list(pods.made)
    for step in (manage, rolling_update):
        done = step(Observed(owner, there, pods_by_node(left), "new", NOW, lambda _node: True))
        left = [pod for pod in left if pod not in done.delete]
        left += [pod_of(owner, node, "new") for node in done.create]
        created += len(done.create)
        deleted += [pod["metadata"]["name"] for pod in done.delete]
    return created, sorted(deleted)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("there", "spec", "running", "created", "deleted"),
    [
        pytest.param(nodes(5), {}, {}, 5, 0, id="one for each node"),
        pytest.param([], {}, {}, 0, 0, id="no nodes"),
        pytest.param(nodes(1), {}, {"n0": 1}, 0, 0, id="one is there"),
        pytest.param(nodes(5), {}, {"n1": 1, "n2": 2, "n3": 5}, 2, 5, id="too many are there"),
        pytest.param(nodes(4, 3), {"nodeSelector": BLUE}, {}, 3, 0, id="selected nodes"),
        pytest.param(nodes(5, 5), {"nodeSelector": BLUE}, {"n1": 3, "n4": 1}, 5, 4, id="pods on nodes not selected"),
        pytest.param(
            nodes(5, 5), {"nodeSelector": BLUE}, {"n0": 1, "n1": 3, "n2": 4, "n6": 13, "n9": 1}, 3, 20,
            id="pods on nodes of both kinds",
        ),
        pytest.param(nodes(4, 3), {"nodeSelector": {"color": "red"}}, {}, 0, 0, id="no node is selected"),
        pytest.param(nodes(5), {"nodeName": "n0"}, {}, 1, 0, id="a node by name"),
        pytest.param(nodes(5), {"nodeName": "n10"}, {}, 0, 0, id="a node that is not there"),
        pytest.param(nodes(4, 3), {"nodeSelector": BLUE, "nodeName": "n6"}, {}, 1, 0, id="by name and labels"),
        pytest.param(nodes(4, 3), {"nodeSelector": BLUE, "nodeName": "n0"}, {}, 0, 0, id="by name against labels"),
    ],
)  # fmt: skip
def test_nodes_get_a_pod_and_lose_more_than_one(strategy, there, spec, running, created, deleted):
    pods = Pods()
    for node, count in running.items():
        pods.add(node, count)

    made, gone = sync(daemon_set(strategy, **spec), there, pods)

    assert (made, len(gone)) == (created, deleted)


@pytest.mark.parametrize("strategy", ["OnDelete", "RollingUpdate"])
@pytest.mark.parametrize(
    ("failed", "running", "created", "deleted"),
    [(0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, 1), (1, 3, 0, 3)],
    ids=["one runs", "none", "one failed: its successor waits for the next sync", "one failed, three run"],
)
def test_failed_pods_are_killed(strategy, failed, running, created, deleted):
    pods = Pods().add("n0", failed, phase="Failed").add("n0", running)

    made, gone = sync(daemon_set(strategy), nodes(1), pods)

    assert (made, len(gone)) == (created, deleted)


def surged(*olds, new=None):
    """Make pods of node n1: a new one, and old ones of which (seconds created, ready or not) is given; one on n2."""
    pods = Pods().add("n1", created=100, ready=new)
    for created, is_ready in olds:
        pods.add("n1", created=created, ready=3600 if is_ready else -1, revision="old")
    return pods.add("n2")


@pytest.mark.parametrize(
    ("min_ready", "pods", "deleted"),
    [
        pytest.param(0, surged((50, True), (60, True)), ["p2"], id="the oldest old one stays, it is ready"),
        pytest.param(0, surged((50, False), (60, True)), ["p1", "p2"], id="the oldest old one goes, it is not ready"),
        pytest.param(15, surged((50, True), (60, True), new=10), ["p2"], id="the new one is not ready for long enough"),
        pytest.param(
            15, surged((50, True), (60, True), new=20), ["p1", "p2"], id="the new one is ready for long enough"
        ),
    ],
)
def test_old_pods_beside_a_new_one(min_ready, pods, deleted):
    assert sync(daemon_set("surge", min_ready), nodes(5), pods) == (3, deleted)


def test_an_old_pod_that_goes_by_itself_is_replaced_beyond_the_surge():
    pods = Pods().add("n0", created=100, ready=-1).add("n0", created=50, ready=3600, revision="old")
    for number in range(1, 5):
        pods.add(f"n{number}", ready=3600, revision="old", going=number == 4)

    assert sync(daemon_set("surge"), nodes(5), pods) == (1, [])


@pytest.mark.parametrize("strategy", ["OnDelete", "RollingUpdate"])
@pytest.mark.parametrize(
    ("before", "after", "spec", "comes"),
    [
        pytest.param({"labels": {}}, {"labels": BLUE}, {"nodeSelector": BLUE}, True, id="labels"),
        pytest.param({"labels": {}}, {"labels": {"x": "y"}}, {"nodeSelector": BLUE}, False, id="other labels"),
        pytest.param({"taints": [{"key": "a", "effect": "NoSchedule"}]}, {"taints": []}, {}, True, id="taints"),
    ],
)
def test_a_node_that_changes(strategy, before, after, spec, comes):
    def node(*, labels=None, taints=()):
        return {"kind": "Node", "metadata": {"name": "n", "labels": labels or {}}, "spec": {"taints": [*taints]}}

    world = ControllerRig(Daemonset)
    world.client.seed(NODES, node(**before))
    owner = daemon_set(strategy, **spec)
    owner["spec"] |= {"selector": {"matchLabels": {"a": "b"}}}
    owner["spec"]["template"]["metadata"] = {"labels": {"a": "b"}}
    world.client.seed(DAEMON_SETS, {"kind": "DaemonSet", **owner})
    world.settle()
    assert world.client.objects(PODS) == []

    world.client.patch(NODES, "n", {"metadata": node(**after)["metadata"], "spec": node(**after)["spec"]})
    world.settle()

    assert bool(world.client.objects(PODS)) is comes


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_set_that_is_being_deleted_makes_nothing(strategy):
    world = ControllerRig(Daemonset)
    world.client.seed(NODES, {"kind": "Node", "metadata": {"name": "n"}, "spec": {}})
    owner = daemon_set(strategy)
    owner["metadata"] |= {"deletionTimestamp": format_time(NOW), "finalizers": ["foregroundDeletion"]}
    owner["spec"] |= {"selector": {"matchLabels": {"a": "b"}}}
    owner["spec"]["template"]["metadata"] = {"labels": {"a": "b"}}
    world.client.seed(DAEMON_SETS, {"kind": "DaemonSet", **owner})

    world.settle()

    assert world.client.objects(PODS) == []
