"""The autoscaler on the bench: a deployment, its pods, and what a metrics server says of them."""

import pytest
from hyperkube_controller.horizontalpodautoscaling import Horizontalpodautoscaling
from hyperkube_controller.horizontalpodautoscaling.controller import AUTOSCALERS, POD_METRICS
from hyperkube_controller.horizontalpodautoscaling.limits import History, bound

from hyperkube.kinds.resources import DEPLOYMENTS, EVENTS, PODS
from hyperkube.machinery.errors import NotFound
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

FAILED = "failed to get cpu resource metric value:"
NO_METRICS = f"{FAILED} unable to get metrics for resource cpu: no metrics returned from resource metrics API"
NO_REQUEST = f"{FAILED} failed to get cpu utilization: missing request for cpu in container c of Pod p0"
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
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]},
    }


def metrics(index, cpu):
    meta = {"name": f"p{index}", "namespace": "d", "labels": {"app": "web"}}
    return {"kind": "PodMetrics", "metadata": meta, "containers": [{"name": "c", "usage": {"cpu": cpu}}]}


class World(ControllerRig):
    """A deployment of which each pod uses what is given; an empty use is one that is not known."""

    def __init__(self, *uses, given=None, pods=None):
        super().__init__(Horizontalpodautoscaling)
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

    def said(self):
        self.plugins[0]._recorder.flush()
        return {event["reason"]: event["message"] for event in self.client.objects(EVENTS)}


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
        (["20m", "20m", "20m", "20m"], 2),
        (["100m", ""], 2),
        (["10m", ""], 2),
    ],
    ids=["twice", "as wanted", "about as wanted", "a little more", "less", "unknown is idle", "unknown is busy"],
)
def test_replicas_follow_the_use(uses, after):
    assert World(*uses).replicas() == after


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
    assert world.said()["SuccessfulRescale"] == (
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
    assert found.said()["FailedGetResourceMetric"] == text


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


def test_other_kinds_of_metrics_are_refused_clearly():
    world = World("50m", given=autoscaler({"type": "External", "external": {}}))

    assert world.said()["FailedGetExternalMetric"] == "metrics of type 'External' are not read by this controller"


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


@pytest.mark.parametrize(
    ("behavior", "current", "desired", "after"),
    [
        ({}, 1, 10, 5),
        ({}, 8, 20, 16),
        ({"scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}}, 3, 9, 4),
        ({"scaleUp": {"selectPolicy": "Disabled"}}, 3, 9, 3),
        ({"scaleUp": {"selectPolicy": "Min"}}, 3, 20, 6),
        ({"scaleDown": {"stabilizationWindowSeconds": 0}}, 9, 2, 2),
        (
            {
                "scaleDown": {
                    "stabilizationWindowSeconds": 0,
                    "policies": [{"type": "Percent", "value": 10, "periodSeconds": 60}],
                }
            },
            20,
            2,
            18,
        ),
    ],
)
def test_rates(behavior, current, desired, after):
    spec = {"minReplicas": 1, "maxReplicas": 50, "behavior": behavior}

    assert bound(spec, current, desired, History(), 1000.0).replicas == after


def test_a_rate_counts_what_was_done_in_its_period():
    rule = {"scaleUp": {"policies": [{"type": "Pods", "value": 4, "periodSeconds": 60}]}}
    spec = {"maxReplicas": 50, "behavior": rule}

    limited = bound(spec, 8, 20, History(changed=[(990.0, 3), (100.0, 5)]), 1000.0)

    assert limited.replicas == 9
    assert limited.conditions[1][2] == "ScaleUpLimit"
