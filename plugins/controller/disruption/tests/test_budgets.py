"""What budgets let go; the rows are those of upstream's ``disruption_test.go``."""

import orjson
import pytest
from hyperkube_controller.disruption import Disruption

from hyperkube.client.client import RawResponse
from hyperkube.kinds.resources import (
    DEPLOYMENTS,
    EVENTS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)
from hyperkube.machinery.errors import Conflict, InternalError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.times import format_time
from hyperkube.testing.controller_rig import ControllerRig

LABELS = {"foo": "bar"}
THINGS = GroupVersionResource("example.com", "v1", "things")
RESOURCES = {
    "Deployment": ("apps/v1", DEPLOYMENTS),
    "ReplicaSet": ("apps/v1", REPLICA_SETS),
    "StatefulSet": ("apps/v1", STATEFUL_SETS),
    "ReplicationController": ("v1", REPLICATION_CONTROLLERS),
    "Thing": ("example.com/v1", THINGS),
}


def reference(kind, name=None, version=None, uid=None):
    name = name or kind.lower()
    version = version or RESOURCES[kind][0]
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid or f"u-{name}", "controller": True}


class World(ControllerRig):
    """One budget, and what comes and goes around it."""

    def __init__(self, *, selector=None, **spec):
        super().__init__(Disruption)
        selector = {"matchLabels": LABELS} if selector is None else selector
        meta = {"name": "b", "namespace": "d", "generation": 1}
        self.client.seed(
            POD_DISRUPTION_BUDGETS,
            {"kind": "PodDisruptionBudget", "metadata": meta, "spec": {"selector": selector, **spec}},
        )
        things = [{"name": "things", "kind": "Thing"}, {"name": "things/scale", "kind": "Scale"}]
        self.serve(*things)

    def serve(self, *rows):
        body = orjson.dumps({"resources": rows})
        for version in ("example.com/v1", "apps/v1", "invalid/v1"):
            self.client.answer("GET", f"/apis/{version}", lambda _body: RawResponse(200, {}, body))

    def owner(self, kind, replicas, owned_by=None):
        """Put a controller there, or change its replicas."""
        meta = {"name": kind.lower(), "namespace": "d", "uid": f"u-{kind.lower()}"}
        meta["ownerReferences"] = [owned_by] if owned_by else []
        spec = {} if replicas is None else {"replicas": replicas}
        self.client.seed(RESOURCES[kind][1], {"kind": kind, "metadata": meta, "spec": spec})

    def pod(self, name, owner=None, *, ready=True, labels=LABELS, **meta):
        owners = [owner] if owner else []
        conditions = [{"type": "Ready", "status": "True"}] if ready else []
        meta = {"name": name, "namespace": "d", "labels": labels, "ownerReferences": owners, **meta}
        self.client.seed(
            PODS, {"kind": "Pod", "metadata": meta, "status": {"phase": "Running", "conditions": conditions}}
        )
        self.settle()

    def status(self):
        return self.client.get(POD_DISRUPTION_BUDGETS, "b", "d")["status"]

    def counts(self):
        """Return (may go, are healthy, must stay, are expected)."""
        self.settle()
        names = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
        return tuple(self.status().get(name, 0) for name in names)

    def told(self):
        self.plugins[0]._recorder.flush()
        return {event["reason"] for event in self.client.objects(EVENTS)}


def test_an_empty_selector_selects_all():
    world = World(selector={}, minAvailable=3)
    assert world.counts() == (0, 0, 3, 0)

    world.pod("yo", labels={"other": "x"})

    assert world.counts() == (0, 1, 3, 1)


def test_pods_that_come_and_one_that_is_no_longer_ready():
    world = World(minAvailable=3)
    for number in range(4):
        assert world.counts() == (0, number, 3, number)
        world.pod(f"p{number}")
    assert world.counts() == (1, 4, 3, 4)

    world.client.patch(PODS, "p0", {"status": {"conditions": []}}, "d", subresource="status")

    assert world.counts() == (0, 3, 3, 4)


@pytest.mark.parametrize("spec", [{"maxUnavailable": 1}, {"minAvailable": "28%"}], ids=str)
def test_pods_without_a_controller_never_go(spec):
    world = World(**spec)
    assert world.counts()[0] == 0

    world.pod("naked")

    assert world.counts()[0] == 0
    assert world.status()["conditions"][0]["reason"] == "InsufficientPods"
    assert "UnmanagedPods" in world.told()


@pytest.mark.parametrize(
    ("most", "before", "counts", "after", "then"),
    [(2, 7, (0, 1, 5, 7), 5, (0, 1, 3, 5)), ("30%", 7, (0, 1, 4, 7), 3, (0, 1, 2, 3))],
)
def test_a_change_of_the_scale_is_followed(most, before, counts, after, then):
    world = World(maxUnavailable=most)
    world.owner("ReplicaSet", before)
    world.pod("p", reference("ReplicaSet"))
    assert world.counts() == counts

    world.client.patch(REPLICA_SETS, "replicaset", {"spec": {"replicas": after}}, "d")

    assert world.counts() == then


@pytest.mark.parametrize(
    ("spec", "kind", "replicas", "pods", "counts"),
    [
        pytest.param({"minAvailable": "20%"}, "ReplicaSet", 10, 1, (0, 1, 2, 10), id="a share of a replica set"),
        pytest.param({"maxUnavailable": 5}, "Thing", 10, 4, (0, 4, 5, 10), id="any kind with a scale"),
        pytest.param({"maxUnavailable": 5}, "Thing", 10, 7, (2, 7, 5, 10), id="any kind, more are healthy"),
        pytest.param({"maxUnavailable": 5}, "Thing", None, 1, (0, 1, 0, 0), id="a scale without replicas has none"),
        pytest.param({"minAvailable": "1%"}, "ReplicationController", 1, 2, (1, 2, 1, 1), id="more than expected"),
        *(
            pytest.param({"minAvailable": "34%"}, kind, 3, pods, (max(0, pods - 2), pods, 2, 3), id=f"{kind} {pods}")
            for kind in ("ReplicationController", "StatefulSet")
            for pods in (1, 2, 3)
        ),
        pytest.param({"minAvailable": "34%"}, "StatefulSet", 3, 0, (0, 0, 0, 0), id="no pods, no controllers"),
    ],
)
def test_controllers_are_counted(spec, kind, replicas, pods, counts):
    world = World(**spec)
    world.owner(kind, replicas)
    for number in range(pods):
        world.pod(f"p{number}", reference(kind))

    assert world.counts() == counts


def test_a_pod_without_a_controller_beside_others_is_healthy():
    world = World(minAvailable="34%")
    world.owner("ReplicationController", 3)
    for number in range(3):
        world.pod(f"p{number}", reference("ReplicationController"))

    world.pod("rogue")

    assert world.counts()[0] == 2


def test_two_controllers_are_added_up():
    world = World(minAvailable="28%")
    world.owner("ReplicationController", 11)
    world.owner("ReplicaSet", 11)
    for number in range(1, 12):
        world.pod(f"a{number}", reference("ReplicationController"), ready=number > 6)
    assert world.counts() == (1, 5, 4, 11)

    for number in range(1, 12):
        world.pod(f"b{number}", reference("ReplicaSet"), ready=number > 7)
        healthy = 5 + max(0, number - 7)
        assert world.counts() == (max(0, healthy - 7), healthy, 7, 22)

    for name, ready, counts in (("a11", False, (1, 8)), ("a10", False, (0, 7)), ("a11", True, (1, 8))):
        conditions = [{"type": "Ready", "status": str(ready)}]
        world.client.patch(PODS, name, {"status": {"conditions": conditions}}, "d", subresource="status")
        assert world.counts() == (*counts, 7, 22)


def test_announced_disruptions():
    world = World(minAvailable=1)
    now = world.clock.now()
    since = {"p1": 0, "p2": 180, "p3": 60, "gone": 0}
    ago = {
        name: format_time(now.fromtimestamp(now.timestamp() - seconds, now.tzinfo)) for name, seconds in since.items()
    }
    world.client.patch(POD_DISRUPTION_BUDGETS, "b", {"status": {"disruptedPods": ago}}, "d", subresource="status")
    pods = [("p1", {"deletionTimestamp": format_time(now), "finalizers": ["x/y"]}), ("p2", {}), ("p3", {})]
    for name, more in pods:
        meta = {"name": name, "namespace": "d", "labels": LABELS, **more}
        conditions = [{"type": "Ready", "status": "True"}]
        world.client.seed(
            PODS, {"kind": "Pod", "metadata": meta, "status": {"phase": "Running", "conditions": conditions}}
        )

    assert world.counts() == (0, 1, 1, 3)
    assert world.status()["disruptedPods"] == {"p3": ago["p3"]}


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([("things/status", "Thing"), ("things/scale", "Scale"), ("things", "Thing")], 'found no controllers for pod "p"'),
        ([("things", "Thing"), ("things/scale", "Thing")], "things.example.com does not implement the scale subresource"),
        ([("things", "Thing")], "things.example.com does not implement the scale subresource"),
    ],
    ids=["a scale", "a scale of another form", "no scale"],
)  # fmt: skip
def test_a_controller_that_is_gone(rows, text):
    world = World(minAvailable="28%")
    world.serve(*({"name": name, "kind": kind} for name, kind in rows))

    world.pod("p", reference("Thing"))

    (condition,) = world.status()["conditions"]
    assert (condition["reason"], condition["message"]) == ("SyncFailed", text)
    assert "CalculateExpectedPodCountFailed" in world.told()


@pytest.mark.parametrize(
    ("kind", "version", "uid", "expected"),
    [
        pytest.param("ReplicaSet", "apps/v1", None, 10, id="a replica set"),
        pytest.param("ReplicaSet", "extensions/v1beta1", None, 10, id="of its old group"),
        pytest.param("ReplicaSet", "invalid/v1", None, None, id="of another group"),
        pytest.param("ReplicaSet", "apps/v1", "another", None, id="another of the name"),
        pytest.param("ReplicationController", "/v1", None, 12, id="a replication controller"),
        pytest.param("ReplicationController", "invalid/v1", None, None, id="of a group"),
        pytest.param("StatefulSet", "apps/v1", None, 14, id="a stateful set"),
    ],
)
def test_how_controllers_are_found(kind, version, uid, expected):
    world = World(maxUnavailable=0)
    for each, replicas in (("ReplicaSet", 10), ("ReplicationController", 12), ("StatefulSet", 14)):
        world.owner(each, replicas)

    world.pod("p", reference(kind, version=version, uid=uid))

    failed = world.status()["conditions"][0]["reason"] == "SyncFailed"
    assert (None if failed else world.counts()[3]) == expected


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        pytest.param(reference("Deployment", version="extensions/v1"), 10, id="a deployment"),
        pytest.param(reference("Deployment"), 10, id="of the group of today"),
        pytest.param(None, 5, id="none"),
        pytest.param(reference("Thing"), 5, id="of another kind"),
    ],
)
def test_the_deployment_of_a_replica_set(above, expected):
    world = World(maxUnavailable=0)
    world.owner("Deployment", 10)
    world.owner("ReplicaSet", 5, above)

    world.pod("p", reference("ReplicaSet"))

    assert world.counts()[3] == expected


def test_a_conflict_writes_nothing_that_is_no_longer_true():
    world = World(minAvailable=1)
    for name in ("moe", "larry", "curly"):
        world.pod(name)
    assert world.counts()[0] == 2
    world.client.delete(PODS, "moe", "d")
    world.informers.refresh()
    charged = {
        "disruptionsAllowed": 0,
        "disruptedPods": {name: format_time(world.clock.now()) for name in ("larry", "curly")},
    }
    world.client.patch(POD_DISRUPTION_BUDGETS, "b", {"status": charged}, "d", subresource="status")
    for name in ("larry", "curly"):
        world.client.delete(PODS, name, "d")
    world.client.fail_next("update", "poddisruptionbudgets", Conflict("changed"))

    world.controllers[0].drain()

    assert world.status()["disruptionsAllowed"] == 0
    assert world.status()["conditions"][0]["reason"] == "SufficientPods"
    assert world.counts() == (0, 0, 1, 0)


def test_after_any_other_failure_nothing_may_go():
    world = World(minAvailable=1)
    for name in ("moe", "larry"):
        world.pod(name)
    world.client.delete(PODS, "moe", "d")
    world.client.fail_next("update", "poddisruptionbudgets", InternalError("no quorum"))
    world.informers.refresh()

    world.controllers[0].drain()

    (condition,) = world.status()["conditions"]
    assert (condition["reason"], "no quorum" in condition["message"]) == ("SyncFailed", True)
    assert world.status()["disruptionsAllowed"] == 0
    assert world.counts() == (0, 1, 1, 1)


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"k8s.io/too/many/slashes": "value"}},
        {"matchExpressions": [{"key": "foo", "operator": "illegal", "values": ["bar"]}]},
    ],
    ids=["a bad key", "a bad operator"],
)
def test_a_selector_that_is_none_lets_nothing_go_and_disturbs_no_other(selector):
    world = World(selector=selector, minAvailable=3)

    world.pod("p")

    assert world.counts() == (0, 0, 0, 0)
    assert world.status()["conditions"][0]["reason"] == "SyncFailed"
    assert "NoPods" in world.told()


def test_conditions_of_others_stay():
    world = World(selector={}, minAvailable=3)
    other = {
        "type": "Other",
        "status": "True",
        "reason": "Test",
        "message": "",
        "lastTransitionTime": "2029-01-01T00:00:00Z",
    }
    world.client.patch(POD_DISRUPTION_BUDGETS, "b", {"status": {"conditions": [other]}}, "d", subresource="status")

    assert world.counts() == (0, 0, 3, 0)
    assert {row["type"] for row in world.status()["conditions"]} == {"Other", "DisruptionAllowed"}


@pytest.mark.parametrize(
    ("status", "passed", "leaving", "expected"),
    [
        pytest.param("True", 121, False, "False", id="long ago"),
        pytest.param("True", 119, False, "True", id="not yet"),
        pytest.param("True", 121, True, "True", id="it is going"),
        pytest.param(None, 121, True, None, id="none"),
        pytest.param("False", 121, True, "False", id="taken back already"),
    ],
)
def test_a_disruption_that_does_not_come(status, passed, leaving, expected):
    world = ControllerRig(Disruption)
    now = format_time(world.clock.now())
    condition = {"type": "DisruptionTarget", "status": status, "lastTransitionTime": now}
    meta = {"name": "p", "namespace": "d"} | ({"deletionTimestamp": now, "finalizers": ["x/y"]} if leaving else {})
    world.client.seed(PODS, {"kind": "Pod", "metadata": meta, "status": {"conditions": [condition] if status else []}})
    world.settle()

    world.advance(passed)

    conditions = world.client.get(PODS, "p", "d")["status"]["conditions"]
    assert [row["status"] for row in conditions] == ([expected] if expected else [])
