"""The autoscaler on the bench: a deployment, its pods, and what a metrics server says of them."""

import orjson
import pytest
from hyperkube_controller.horizontalpodautoscaling import Horizontalpodautoscaling
from hyperkube_controller.horizontalpodautoscaling.controller import AUTOSCALERS, POD_METRICS
from prometheus_client import CollectorRegistry

from hyperkube.client.client import RawResponse
from hyperkube.kinds.resources import DEPLOYMENTS, PODS
from hyperkube.machinery.errors import Forbidden, NotFound, UsageError
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

FAILED = "failed to get cpu utilization:"
NO_METRICS = f"{FAILED} unable to get metrics for resource cpu: no metrics returned from resource metrics API"
NO_REQUEST = f"{FAILED} missing request for cpu in container c of Pod p0"
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}


def autoscaler(*metrics, **spec):
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 10, "metrics": list(metrics) or [CPU], **spec}
    meta = {"name": "web", "namespace": "d"}
    return {"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v2", "metadata": meta, "spec": spec}


def deployment(replicas):
    meta = {"name": "web", "namespace": "d"}
    status = {"replicas": replicas, "selector": "app=web"}
    return {"kind": "Deployment", "metadata": meta, "spec": {"replicas": replicas}, "status": status}


def pod(index, ready="True", request="100m"):
    resources = {"requests": {"cpu": request}} if request else {}
    return {
        "kind": "Pod",
        "metadata": {"name": f"p{index}", "namespace": "d", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "resources": resources}]},
        "status": {
            "phase": "Running",
            "startTime": "2023-01-01T00:00:00Z",
            "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": "2023-01-01T00:00:10Z"}],
        },
    }


def metrics(index, cpu):
    meta = {"name": f"p{index}", "namespace": "d", "labels": {"app": "web"}}
    return {"kind": "PodMetrics", "metadata": meta, "containers": [{"name": "c", "usage": {"cpu": cpu}}]}


def told(rig):
    """Return what events are told from now on, by reason."""
    events = {}
    rig.plugins[0]._recorder.event = lambda _obj, _type, reason, message: events.update({reason: message})
    return events


class World(ControllerRig):
    """A deployment of which each pod uses what is given; an empty use is one that is not known."""

    def __init__(self, *uses, given=None, pods=None):
        super().__init__(Horizontalpodautoscaling)
        self.told = told(self)
        self.client.seed(DEPLOYMENTS, deployment(len(uses)))
        self.client.seed(PODS, *(pods or [pod(index) for index in range(len(uses))]))
        self.client.seed(POD_METRICS, *(metrics(index, use) for index, use in enumerate(uses) if use))
        self.client.seed(AUTOSCALERS, given or autoscaler())
        self.settle()

    def replicas(self):
        return self.client.objects(DEPLOYMENTS)[0]["spec"]["replicas"]

    def status(self):
        return self.client.objects(AUTOSCALERS)[0]["status"]

    def conditions(self):
        return {row["type"]: (row["status"], row["reason"]) for row in self.status()["conditions"]}


class TestContract(ControllerContract):
    plugin = Horizontalpodautoscaling

    def populate(self, rig):
        rig.client.seed(DEPLOYMENTS, deployment(2))
        rig.client.seed(PODS, pod(0), pod(1))
        rig.client.seed(POD_METRICS, metrics(0, "50m"), metrics(1, "50m"))
        rig.client.seed(AUTOSCALERS, autoscaler())


@pytest.mark.parametrize(
    ("uses", "after"),
    [
        (["100m", "100m"], 4),
        (["50m", "50m"], 2),
        (["54m", "54m"], 2),
        (["60m", "60m"], 3),
        (["100m", ""], 2),
        (["10m", ""], 2),
    ],
    ids=["twice", "as wanted", "about as wanted", "a little more", "unknown is idle", "unknown is busy"],
)
def test_replicas_follow_the_use(uses, after):
    assert World(*uses).replicas() == after


def test_a_controller_that_has_just_started_does_not_scale_down_at_once():
    world = World("20m", "20m", "20m", "20m")
    assert world.replicas() == 4
    assert world.conditions()["AbleToScale"] == ("True", "ScaleDownStabilized")

    for _ in range(21):
        world.advance(15)

    assert world.replicas() == 2


def test_what_it_did_is_told():
    world = World("100m", "100m")

    assert world.status()["desiredReplicas"] == 4
    assert world.status()["currentMetrics"] == [
        {
            "type": "Resource",
            "resource": {"name": "cpu", "current": {"averageUtilization": 100, "averageValue": "100m"}},
        }
    ]
    assert world.conditions() == {
        "AbleToScale": ("True", "SucceededRescale"),
        "ScalingActive": ("True", "ValidMetricFound"),
        "ScalingLimited": ("False", "DesiredWithinRange"),
    }
    assert world.told["SuccessfulRescale"] == (
        "New size: 4; reason: cpu resource utilization (percentage of request) above target"
    )


def test_pods_that_are_not_ready_do_not_count():
    pods = [pod(0), pod(1, "False")]

    assert World("100m", "900m", pods=pods).replicas() == 2


@pytest.mark.parametrize(
    ("spec", "after"),
    [({"maxReplicas": 3}, 3), ({"maxReplicas": 1}, 1), ({"minReplicas": 5}, 5)],
    ids=["most", "above the most", "below the least"],
)
def test_bounds(spec, after):
    assert World("100m", "100m", given=autoscaler(**spec)).replicas() == after


def test_a_value_for_each_pod():
    target = {"type": "AverageValue", "averageValue": "25m"}

    assert World("50m", "50m", given=autoscaler({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    ).replicas() == 4  # fmt: skip


def test_one_container_of_each_pod():
    target = {"type": "Utilization", "averageUtilization": 50}
    metric = {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c", "target": target}}

    assert World("100m", "100m", given=autoscaler(metric)).replicas() == 4


def test_a_target_at_zero_is_left_alone():
    world = World()

    assert world.replicas() == 0
    assert world.conditions()["ScalingActive"] == ("False", "ScalingDisabled")


@pytest.mark.parametrize(
    ("world", "text"),
    [
        (
            lambda: World("", ""),
            NO_METRICS,
        ),
        (
            lambda: World("50m", pods=[pod(0, request="")]),
            NO_REQUEST,
        ),
    ],
    ids=["no metrics", "no request"],
)
def test_without_metrics_nothing_changes(world, text):
    found = world()

    assert found.conditions()["ScalingActive"] == ("False", "FailedGetResourceMetric")
    assert found.told["FailedGetResourceMetric"] == text


def test_without_a_metrics_server_nothing_changes():
    rig = ControllerRig(Horizontalpodautoscaling)
    rig.client.seed(DEPLOYMENTS, deployment(2))
    rig.client.seed(AUTOSCALERS, autoscaler())
    rig.client.seed(PODS, pod(0), pod(1))
    served = rig.client.list

    def unserved(resource, *args, **words):
        if resource == POD_METRICS:
            raise NotFound("the server could not find the requested resource")
        return served(resource, *args, **words)

    rig.client.list = unserved
    rig.settle()

    conditions = rig.client.objects(AUTOSCALERS)[0]["status"]["conditions"]
    (active,) = [row for row in conditions if row["type"] == "ScalingActive"]
    assert active["message"].endswith("resource metrics API: the server could not find the requested resource")
    assert rig.client.objects(DEPLOYMENTS)[0]["spec"]["replicas"] == 2


def test_a_missing_target_is_told():
    rig = ControllerRig(Horizontalpodautoscaling)
    rig.client.seed(AUTOSCALERS, autoscaler())
    rig.settle()

    (condition,) = rig.client.objects(AUTOSCALERS)[0]["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "FailedGetScale")


def test_it_comes_down_only_when_that_has_been_so_for_a_while():
    world = World("100m", "100m")
    world.client.seed(PODS, pod(2), pod(3))
    world.client.seed(POD_METRICS, metrics(2, "10m"), metrics(3, "10m"))
    for name in ("p0", "p1"):
        world.client.patch(POD_METRICS, name, {"containers": [{"name": "c", "usage": {"cpu": "10m"}}]}, "d")

    world.advance(15)
    soon = world.replicas()
    for _ in range(25):
        world.advance(15)

    assert soon == 4
    assert world.replicas() == 1


def answer(world, path, *values, **more):
    items = [{"value": value, "timestamp": "2024-01-01T00:00:00Z", **more} for value in values]
    world.client.answer("GET", path, lambda _body: RawResponse(200, {}, orjson.dumps({"items": items})))


def unsettled(metric, *, replicas=2, custom=True):
    """Return a world with an autoscaler by one metric that has not looked yet, and custom metrics in two versions."""
    rig = World.__new__(World)
    ControllerRig.__init__(rig, Horizontalpodautoscaling)
    rig.told = told(rig)
    rig.client.seed(DEPLOYMENTS, deployment(replicas))
    rig.client.seed(PODS, *(pod(index) for index in range(replicas)))
    rig.client.seed(AUTOSCALERS, autoscaler(metric))
    group = {"preferredVersion": {"version": "v1beta3"}, "versions": [{"version": "v1beta3"}, {"version": "v1beta2"}]}
    if custom:
        rig.client.answer("GET", "/apis/custom.metrics.k8s.io", lambda _body: RawResponse(200, {}, orjson.dumps(group)))
    return rig


CUSTOM = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/d"
PODS_METRIC = {
    "type": "Pods",
    "pods": {"metric": {"name": "qps"}, "target": {"type": "AverageValue", "averageValue": "10"}},
}


def test_a_metric_of_pods():
    world = unsettled(PODS_METRIC)
    rows = [{"value": "20", "describedObject": {"name": name}} for name in ("p0", "p1")]
    world.client.answer(
        "GET", f"{CUSTOM}/pods/*/qps", lambda _body: RawResponse(200, {}, orjson.dumps({"items": rows}))
    )

    world.settle()

    assert world.replicas() == 4
    current = {"metric": {"name": "qps"}, "current": {"averageValue": "20"}}
    assert world.status()["currentMetrics"] == [{"type": "Pods", "pods": current}]
    assert world.told["SuccessfulRescale"] == "New size: 4; reason: pods metric qps above target"


@pytest.mark.parametrize(
    ("target", "after", "current", "name"),
    [
        ({"type": "Value", "value": "10"}, 4, {"value": "20"}, "Deployment metric qps"),
        ({"type": "AverageValue", "averageValue": "5"}, 4, {"averageValue": "10"}, "external metric qps(nil)"),
    ],
    ids=["shared", "per pod"],
)
def test_a_metric_of_an_object(target, after, current, name):
    described = {"kind": "Deployment", "apiVersion": "apps/v1", "name": "web"}
    metric = {"metric": {"name": "qps"}, "describedObject": described}
    world = unsettled({"type": "Object", "object": {**metric, "target": target}})
    answer(world, f"{CUSTOM}/deployments.apps/web/qps", "20")

    world.settle()

    assert world.replicas() == after
    assert world.status()["currentMetrics"] == [{"type": "Object", "object": {**metric, "current": current}}]
    assert world.told["SuccessfulRescale"] == f"New size: {after}; reason: {name} above target"


@pytest.mark.parametrize(
    ("target", "after", "current"),
    [
        ({"type": "Value", "value": "10"}, 4, {"value": "20"}),
        ({"type": "AverageValue", "averageValue": "5"}, 4, {"averageValue": "10"}),
    ],
    ids=["shared", "per pod"],
)
def test_a_metric_of_something_outside(target, after, current):
    metric = {"name": "depth", "selector": {"matchLabels": {"queue": "a"}}}
    world = unsettled({"type": "External", "external": {"metric": metric, "target": target}})
    answer(world, "/apis/external.metrics.k8s.io/v1beta1/namespaces/d/depth", "15", "5")

    world.settle()

    assert world.replicas() == after
    assert world.status()["currentMetrics"] == [
        {"type": "External", "external": {"metric": metric, "current": current}}
    ]
    name = (
        "external metric depth(&LabelSelector{MatchLabels:map[string]string{queue: a,},"
        "MatchExpressions:[]LabelSelectorRequirement{},})"
    )
    assert world.told["SuccessfulRescale"] == f"New size: {after}; reason: {name} above target"


NO_CUSTOM = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
NO_EXTERNAL = (
    "unable to get external metric d/m/nil: unable to fetch metrics from external metrics API: "
    "the server could not find the requested resource (get m.external.metrics.k8s.io)"
)
OBJECT_METRIC = {
    "type": "Object",
    "object": {
        "metric": {"name": "qps"},
        "describedObject": {"kind": "Deployment", "apiVersion": "apps/v1", "name": "web"},
        "target": {"type": "Value", "value": "1"},
    },
}
EXTERNAL_METRIC = {
    "type": "External",
    "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}},
}


@pytest.mark.parametrize(
    ("metric", "reason", "text", "summary"),
    [
        (
            PODS_METRIC,
            "FailedGetPodsMetric",
            f"unable to get metric qps: {NO_CUSTOM}",
            f"failed to get pods metric value: unable to get metric qps: {NO_CUSTOM}",
        ),
        (
            OBJECT_METRIC,
            "FailedGetObjectMetric",
            f"unable to get metric qps: Deployment on d web/{NO_CUSTOM}",
            f"failed to get object metric value: unable to get metric qps: Deployment on d web/{NO_CUSTOM}",
        ),
        (
            EXTERNAL_METRIC,
            "FailedGetExternalMetric",
            NO_EXTERNAL,
            f"failed to get m external metric value: failed to get external metric m: {NO_EXTERNAL}",
        ),
    ],
    ids=["pods", "object", "external"],
)
def test_a_metric_that_cannot_be_had_is_told(metric, reason, text, summary):
    world = unsettled(metric, custom=False)

    world.settle()

    assert world.replicas() == 2
    (active,) = [row for row in world.status()["conditions"] if row["type"] == "ScalingActive"]
    assert (active["status"], active["reason"]) == ("False", reason)
    assert active["message"] == f"the HPA was unable to compute the replica count: {text}"
    assert world.told[reason] == text
    whole = f"invalid metrics (1 invalid out of 1), first error is: {summary}"
    assert world.told["FailedComputeMetricsReplicas"] == whole
    assert world.status()["currentMetrics"] == [{"type": ""}]


@pytest.mark.parametrize(("cpu", "after"), [("100m", 4), ("10m", 2)], ids=["up by what is known", "never down"])
def test_one_metric_of_two_that_cannot_be_had(cpu, after):
    world = World(cpu, cpu, given=autoscaler(CPU, PODS_METRIC))
    for _ in range(25):
        world.advance(15)

    assert world.replicas() == after


def test_the_highest_of_several_metrics_wins():
    memory = {
        "type": "Resource",
        "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1"}},
    }
    world = World("100m", "100m", given=autoscaler(CPU, memory))
    for name in ("p0", "p1"):
        usage = [{"name": "c", "usage": {"cpu": "100m", "memory": "3"}}]
        world.client.patch(POD_METRICS, name, {"containers": usage}, "d")

    world.advance(15)

    # Of six that memory asks for four stand by now; those without a value count as idle.
    assert [row["resource"]["name"] for row in world.status()["currentMetrics"]] == ["cpu", "memory"]
    assert world.told["SuccessfulRescale"]


def test_a_scale_without_a_selector_is_told():
    rig = ControllerRig(Horizontalpodautoscaling)
    events = told(rig)
    rig.client.seed(DEPLOYMENTS, {**deployment(1), "status": {"replicas": 1}})
    rig.client.seed(AUTOSCALERS, autoscaler())
    rig.settle()

    conditions = {row["type"]: row for row in rig.client.objects(AUTOSCALERS)[0]["status"]["conditions"]}
    assert conditions["ScalingActive"]["reason"] == "InvalidSelector"
    assert conditions["ScalingActive"]["message"] == "the HPA target's scale is missing a selector"
    assert events["SelectorRequired"] == events["FailedComputeMetricsReplicas"] == "selector is required"


def test_two_autoscalers_of_the_same_pods_do_nothing():
    world = World("100m", "100m")
    before = world.replicas()
    other = autoscaler()
    other["metadata"]["name"] = "twin"
    world.client.seed(AUTOSCALERS, other)
    world.settle()

    world.advance(15)

    assert world.replicas() == before
    text = "pods by selector app=web are controlled by multiple HPAs: [d/twin d/web]"
    assert world.told["AmbiguousSelector"] == text
    assert world.conditions()["ScalingActive"] == ("False", "AmbiguousSelector")


@pytest.mark.parametrize(
    ("behavior", "use", "after"),
    [
        ({"scaleUp": {"tolerance": "0.05"}}, "54m", 3),
        ({"scaleUp": {"tolerance": "0.3"}}, "60m", 2),
        ({"scaleDown": {"tolerance": "0.3"}}, "54m", 2),
    ],
    ids=["narrower", "wider", "of the other way"],
)
def test_tolerances_can_be_set_each_way(behavior, use, after):
    assert World(use, use, given=autoscaler(behavior=behavior)).replicas() == after


def test_the_flag_sets_the_tolerance():
    rig = ControllerRig(Horizontalpodautoscaling, settings={"horizontal_pod_autoscaler_tolerance": 0.05})
    rig.client.seed(DEPLOYMENTS, deployment(2))
    rig.client.seed(PODS, pod(0), pod(1))
    rig.client.seed(POD_METRICS, metrics(0, "54m"), metrics(1, "54m"))
    rig.client.seed(AUTOSCALERS, autoscaler())
    rig.settle()

    assert rig.client.objects(DEPLOYMENTS)[0]["spec"]["replicas"] == 3


def test_a_refused_change_of_the_target_is_told():
    world = unsettled(CPU)
    world.client.seed(POD_METRICS, metrics(0, "100m"), metrics(1, "100m"))
    world.client.fail_next("update", "deployments", Forbidden("not you"))
    world.informers.refresh()

    world.controllers[0].drain()

    name = "cpu resource utilization (percentage of request)"
    assert world.told["FailedRescale"] == f"New size: 4; reason: {name} above target; error: not you"
    status = world.status()
    (able,) = [row for row in status["conditions"] if row["type"] == "AbleToScale"]
    assert (able["status"], able["reason"]) == ("False", "FailedUpdateScale")
    assert able["message"] == "the HPA controller was unable to update the target scale: not you"
    assert (status["currentReplicas"], status["desiredReplicas"]) == (2, 0)
    world.advance(1)
    assert world.replicas() == 4


def test_a_refused_status_is_told():
    world = unsettled(CPU)
    world.client.seed(POD_METRICS, metrics(0, "50m"), metrics(1, "50m"))
    world.client.fail_next("update", "horizontalpodautoscalers", Forbidden("not you"))
    world.informers.refresh()

    world.controllers[0].drain()

    assert world.told["FailedUpdateStatus"] == "not you"


def measured(world, name, **labels):
    registry = CollectorRegistry()
    registry.register(world.plugins[0]._measures)
    return registry.get_sample_value(f"horizontal_pod_autoscaler_controller_{name}", labels)


def test_reconciliations_and_computations_are_counted():
    world, failing = World("100m", "100m"), World("", "")

    assert measured(world, "reconciliations_total", action="scale_up", error="none") == 1
    assert measured(world, "reconciliation_duration_seconds_count", action="scale_up", error="none") == 1
    computed = {"action": "scale_up", "error": "none", "metric_type": "Resource"}
    assert measured(world, "metric_computation_total", **computed) == 1
    assert measured(failing, "reconciliations_total", action="none", error="internal") == 1
    computed = {"action": "none", "error": "internal", "metric_type": "Resource"}
    assert measured(failing, "metric_computation_total", **computed) == 1


def test_the_number_of_autoscalers_and_what_each_asks_for_are_told_as_long_as_they_are_there():
    world = World("100m", "100m")
    there = measured(world, "num_horizontal_pod_autoscalers"), desired(world)

    world.client.delete(AUTOSCALERS, "web", "d")
    world.settle()

    assert there == (1, 4)
    assert (measured(world, "num_horizontal_pod_autoscalers"), desired(world)) == (0, None)


def desired(world):
    return measured(world, "desired_replicas", namespace="d", hpa_name="web")


def test_no_syncs_at_all_are_refused():
    with pytest.raises(UsageError, match=r"^concurrent-horizontal-.*-syncs must be greater than 0, but got 0$"):
        ControllerRig(Horizontalpodautoscaling, settings={"concurrent_horizontal_pod_autoscaler_syncs": 0})
