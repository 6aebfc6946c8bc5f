"""One look of the autoscaler at its target; the rows are those of upstream's ``horizontal_test.go``."""

import pytest
from hyperkube_controller.horizontalpodautoscaling import Horizontalpodautoscaling
from hyperkube_controller.horizontalpodautoscaling.controller import AUTOSCALERS, POD_METRICS
from hyperkube_controller.horizontalpodautoscaling.normalize import History

from hyperkube.kinds.resources import DEPLOYMENTS, PODS, REPLICA_SETS, REPLICATION_CONTROLLERS
from hyperkube.machinery.times import format_time
from hyperkube.testing.controller_rig import ControllerRig

TARGETS = {
    "Deployment": ("apps/v1", DEPLOYMENTS),
    "ReplicaSet": ("apps/v1", REPLICA_SETS),
    "ReplicationController": ("v1", REPLICATION_CONTROLLERS),
}
FEW, MANY, WITHIN, FAST = "TooFewReplicas", "TooManyReplicas", "DesiredWithinRange", "ScaleUpLimit"
READY, DONE, STEADY = "ReadyForNewScale", "SucceededRescale", "ScaleDownStabilized"
NO_METRICS, NO_SCALING = "FailedGetResourceMetric", "ScalingDisabled"
SEVEN_TIMES = {"scaleUp": {"policies": [{"type": "Percent", "value": 700, "periodSeconds": 60}]}}


class Look(ControllerRig):
    """A target, its pods, what they use, and one look at them.

    Pods are words: ready, unready, hot (started lately), failed, going.
    """

    def __init__(
        self, replicas, bounds, target, levels, *, requests=(), pods=(), kind="Deployment", fresh=True, **spec
    ):
        super().__init__(Horizontalpodautoscaling)
        version, self.resource = TARGETS[kind]
        status = {"replicas": spec.pop("there", replicas), "selector": spec.pop("selector", "app=web")}
        self.client.seed(
            self.resource,
            {
                "kind": kind,
                "metadata": {"name": "web", "namespace": "d"},
                "spec": {"replicas": replicas},
                "status": status,
            },
        )
        requests = requests or ["1"] * max(len(levels), len(pods), replicas)
        hows = [*pods, *["ready"] * (len(requests) - len(pods))]
        for index, (request, how) in enumerate(zip(requests, hows, strict=True)):
            self.client.seed(PODS, self.pod(index, request, how))
        for index, level in enumerate(levels):
            meta = {"name": f"p{index}", "namespace": "d", "labels": {"app": "web"}}
            usage = [{"name": name, "usage": {"cpu": f"{level}m"}} for name in ("c",)]
            self.client.seed(
                POD_METRICS,
                {
                    "kind": "PodMetrics",
                    "metadata": meta,
                    "timestamp": format_time(self.clock.now()),
                    "window": "60s",
                    "containers": usage,
                },
            )
        cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": target}}
        metrics = [{"type": "Resource", "resource": cpu}, *spec.pop("metrics", [])]
        reference = {"apiVersion": version, "kind": kind, "name": "web"}
        spec = {
            "scaleTargetRef": reference,
            "minReplicas": bounds[0],
            "maxReplicas": bounds[1],
            "metrics": metrics,
            **spec,
        }
        meta = {"name": "web", "namespace": "d"}
        self.client.seed(AUTOSCALERS, {"kind": "HorizontalPodAutoscaler", "metadata": meta, "spec": spec})
        if not fresh:  # it has run for a while, and recommended nothing that matters
            self.plugins[0]._histories["d/web"] = History([(self.clock.monotonic(), 0)])
        self.settle()

    def pod(self, index, request, how):
        now = self.clock.now().timestamp()
        started = format_time(
            self.clock.now().fromtimestamp(now - (30 if how == "hot" else 3600), self.clock.now().tzinfo)
        )
        resources = {"requests": {"cpu": request}} if request else {}
        ready = "False" if how in {"unready", "hot"} else "True"
        made = {
            "kind": "Pod",
            "metadata": {"name": f"p{index}", "namespace": "d", "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "resources": resources}]},
            "status": {
                "phase": "Failed" if how == "failed" else "Running",
                "startTime": started,
                "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": started}],
            },
        }
        if how == "going":
            made["metadata"] |= {"deletionTimestamp": started, "finalizers": ["x/y"]}
        return made

    def replicas(self):
        return self.client.get(self.resource, "web", "d")["spec"]["replicas"]

    def status(self):
        return self.client.get(AUTOSCALERS, "web", "d")["status"]

    def reasons(self):
        """Return the reasons of AbleToScale, ScalingActive and ScalingLimited, empty where there is no condition."""
        found = {row["type"]: row["reason"] for row in self.status()["conditions"]}
        return tuple(found.get(kind, "") for kind in ("AbleToScale", "ScalingActive", "ScalingLimited"))


ACTIVE = "ValidMetricFound"


@pytest.mark.parametrize(
    ("look", "replicas", "reasons"),
    [
        pytest.param({"levels": [300, 500, 700]}, 5, (DONE, ACTIVE, WITHIN), id="up"),
        pytest.param({"levels": [300, 500, 700], "kind": "ReplicaSet"}, 5, (DONE, ACTIVE, WITHIN), id="a replica set"),
        pytest.param(
            {"levels": [300, 500, 700], "kind": "ReplicationController"}, 5, (DONE, ACTIVE, WITHIN), id="a controller"
        ),
        pytest.param({"levels": [300, 500, 700], "pods": ["unready"]}, 4, (DONE, ACTIVE, WITHIN), id="one is unready"),
        pytest.param({"levels": [300, 500, 700], "pods": ["hot"]}, 4, (DONE, ACTIVE, WITHIN), id="one is hot"),
        pytest.param(
            {"levels": [400, 500, 700], "pods": ["ready", "unready", "unready"]}, 3, (READY, ACTIVE, WITHIN),
            id="two are unready",
        ),
        pytest.param({"levels": [400, 500, 700], "pods": ["ready", "hot", "hot"]}, 3, (READY, ACTIVE, WITHIN), id="two are hot"),
        pytest.param(
            {"replicas": 2, "levels": [500, 700], "pods": ["ready", "ready", "failed", "failed"]}, 4, (DONE, ACTIVE, WITHIN),
            id="failed ones",
        ),
        pytest.param(
            {"replicas": 2, "levels": [500, 700], "pods": ["ready", "ready", "going", "going"]}, 4, (DONE, ACTIVE, WITHIN),
            id="going ones",
        ),
    ],
)  # fmt: skip
def test_up(look, replicas, reasons):
    found = Look(**{"replicas": 3, "bounds": (2, 6), "target": 30, **look})

    assert (found.replicas(), found.reasons()) == (replicas, reasons)


FIVE = [100, 300, 500, 250, 250]
UNKNOWN = {"type": "CheddarCheese"}
EXTERNAL = {
    "type": "External",
    "external": {"metric": {"name": "qps"}, "target": {"type": "AverageValue", "averageValue": "1"}},
}


@pytest.mark.parametrize(
    ("look", "replicas", "reasons"),
    [
        pytest.param({}, 3, (DONE, ACTIVE, WITHIN), id="down"),
        pytest.param({"fresh": True}, 5, (STEADY, ACTIVE, WITHIN), id="not at once"),
        pytest.param({"behavior": {"scaleUp": {"policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}}}, 3, (DONE, ACTIVE, WITHIN), id="with rules upwards"),
        pytest.param({"pods": ["ready"] * 3 + ["unready"] * 2}, 2, (DONE, ACTIVE, WITHIN), id="unready ones"),
        pytest.param({"pods": ["ready"] * 3 + ["hot"] * 2}, 2, (DONE, ACTIVE, WITHIN), id="hot ones"),
        pytest.param({"pods": ["ready"] * 5 + ["failed"] * 2}, 3, (DONE, ACTIVE, WITHIN), id="failed ones"),
        pytest.param({"pods": ["ready"] * 5 + ["going"] * 2}, 3, (DONE, ACTIVE, WITHIN), id="going ones"),
        pytest.param({"metrics": [UNKNOWN]}, 5, ("SucceededGetScale", "InvalidMetricSourceType", ""), id="one metric is none"),
        pytest.param({"metrics": [EXTERNAL]}, 5, ("SucceededGetScale", "FailedGetExternalMetric", ""), id="one cannot be had"),
    ],
)  # fmt: skip
def test_down(look, replicas, reasons):
    found = Look(**{"replicas": 5, "bounds": (2, 6), "target": 50, "levels": FIVE, "fresh": False, **look})

    assert (found.replicas(), found.reasons()) == (replicas, reasons)


UNEVEN = ["0.9", "1.0", "1.1"]
TENTHS = ["0.1", "0.1", "0.1"]


@pytest.mark.parametrize(
    ("replicas", "bounds", "target", "levels", "more", "after", "reasons"),
    [
        pytest.param(3, (1, 5), 100, [1010, 1030, 1020], {"requests": UNEVEN}, 3, (READY, ACTIVE, WITHIN), id="about as wanted"),
        pytest.param(3, (2, 5), 90, [10, 95, 10], {"requests": UNEVEN}, 2, (DONE, ACTIVE, FEW), id="the least"),
        pytest.param(3, (0, 5), 90, [0, 0, 0], {"requests": UNEVEN}, 0, (DONE, ACTIVE, WITHIN), id="to none"),
        pytest.param(3, (2, 5), 90, [0, 0, 0], {"requests": UNEVEN}, 2, (DONE, ACTIVE, FEW), id="not to none"),
        pytest.param(0, (3, 5), 90, [], {}, 0, ("SucceededGetScale", NO_SCALING, ""), id="none"),
        pytest.param(2, (3, 5), 90, [], {}, 3, (DONE, "", ""), id="too few"),
        pytest.param(10, (3, 5), 90, [], {}, 5, (DONE, "", ""), id="too many"),
        pytest.param(1, (2, 6), 50, [0, 0, 0, 0], {}, 2, (DONE, "", ""), id="too few, whatever they use"),
        pytest.param(6, (2, 5), 50, [8000, 9500, 1000], {}, 5, (DONE, "", ""), id="too many, whatever they use"),
        pytest.param(3, (2, 5), 90, [8000, 9500, 1000], {"requests": UNEVEN}, 5, (DONE, ACTIVE, MANY), id="the most"),
        pytest.param(4, (2, 6), 100, [4000, 9500, 3000, 7000, 3200, 2000], {"requests": ["1"] * 4}, 6, (DONE, ACTIVE, MANY), id="metrics of other pods"),
        pytest.param(4, (2, 6), 100, [400, 95], {}, 3, (DONE, ACTIVE, WITHIN), id="metrics are missing"),
        pytest.param(4, (2, 6), 100, [], {}, 4, ("SucceededGetScale", NO_METRICS, ""), id="no metrics"),
        pytest.param(1, (1, 5), 100, [200], {"requests": [""]}, 1, ("SucceededGetScale", NO_METRICS, ""), id="no request"),
        pytest.param(4, (1, 5), 50, [200], {"requests": ["0.2"]}, 2, (DONE, ACTIVE, WITHIN), id="fewer pods than replicas"),
        pytest.param(3, (1, 100), 10, [100, 200, 300], {"requests": TENTHS, "behavior": SEVEN_TIMES}, 24, (DONE, ACTIVE, FAST), id="eight times"),
        pytest.param(3, (1, 20), 10, [100, 200, 300], {"requests": TENTHS, "behavior": SEVEN_TIMES}, 20, (DONE, ACTIVE, MANY), id="eight times are too many"),
        pytest.param(4, (1, 8), 50, [500] * 5, {"there": 5}, 4, (READY, ACTIVE, WITHIN), id="one more than wanted, of a surge"),
        pytest.param(3, (1, 9), 10, [100] * 3, {"selector": ""}, 3, ("SucceededGetScale", "InvalidSelector", ""), id="no selector"),
        pytest.param(3, (1, 9), 10, [100] * 3, {"selector": "cheddar cheese"}, 3, ("SucceededGetScale", "InvalidSelector", ""), id="a selector that is none"),
    ],
)  # fmt: skip
def test_bounds_and_what_is_missing(replicas, bounds, target, levels, more, after, reasons):
    found = Look(replicas, bounds, target, levels, fresh=False, **more)

    assert (found.replicas(), found.reasons()) == (after, reasons)


def test_what_is_as_it_was_is_not_written():
    found = Look(2, (2, 6), 50, [500, 500])
    before = found.client.get(AUTOSCALERS, "web", "d")["metadata"]["resourceVersion"]

    for _ in range(3):
        found.advance(15)

    assert found.client.get(AUTOSCALERS, "web", "d")["metadata"]["resourceVersion"] == before


@pytest.mark.parametrize(("value", "after"), [("20", 2), ("15", 1), ("15.1", 2)], ids=["more", "one", "no tolerance"])
def test_from_none_by_what_is_waiting(value, after):
    described = {"kind": "Deployment", "apiVersion": "apps/v1", "name": "some"}
    metric = {"metric": {"name": "qps"}, "describedObject": described, "target": {"type": "Value", "value": "15"}}
    found = Look(0, (0, 6), 50, [], metrics=[{"type": "Object", "object": metric}])
    assert found.replicas() == 0

    answer_object(found, value)
    found.advance(15)

    assert found.replicas() == after


def answer_object(found, value):
    """Let the metric of an object have a value."""
    served = found.plugins[0]._metrics
    served.object_metric = lambda *_args: int(float(value) * 1000)
