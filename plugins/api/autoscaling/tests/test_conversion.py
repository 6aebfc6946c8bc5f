"""Autoscalers keep all members on the way to v1 and back."""

import json
from copy import deepcopy

import pytest
from hyperkube_api.autoscaling.conversion import CURRENT_METRICS, flat_current, v1_to_v2, v2_to_v1
from hyperkube_api.autoscaling.defaults import default_autoscaler

STORED = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "h", "annotations": {"a": "b"}},
    "spec": {
        "maxReplicas": 3,
        "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
        "metrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
            },
            {
                "type": "Pods",
                "pods": {"metric": {"name": "rps"}, "target": {"type": "AverageValue", "averageValue": "5"}},
            },
        ],
        "behavior": {"scaleDown": {"selectPolicy": "Disabled"}},
    },
    "status": {"currentReplicas": 1, "desiredReplicas": 2},
}


def test_the_first_version_shows_cpu_and_keeps_the_rest_in_annotations():
    shown = v2_to_v1(STORED)

    assert shown["spec"]["targetCPUUtilizationPercentage"] == 50
    assert "metrics" not in shown["spec"]
    assert set(shown["metadata"]["annotations"]) == {
        "a",
        "autoscaling.alpha.kubernetes.io/metrics",
        "autoscaling.alpha.kubernetes.io/behavior",
    }


def test_there_and_back_is_the_same():
    stored = deepcopy(STORED)
    default_autoscaler(stored)

    assert v1_to_v2(v2_to_v1(stored)) == stored


def test_what_v1_says_nothing_of_has_the_defaults_of_v2():
    plain = {"apiVersion": "autoscaling/v1", "metadata": {"name": "h"}, "spec": {"maxReplicas": 3}}

    assert v2_to_v1(v1_to_v2(plain))["spec"] == {
        "maxReplicas": 3,
        "minReplicas": 1,
        "targetCPUUtilizationPercentage": 80,
    }


def test_the_cpu_in_use_is_an_annotation_too_that_the_status_comes_back_from():
    status = {"currentReplicas": 1, "desiredReplicas": 1, "currentCPUUtilizationPercentage": 35}
    plain = {"apiVersion": "autoscaling/v1", "metadata": {"name": "h"}, "spec": {"maxReplicas": 3}, "status": status}

    shown = v2_to_v1(v1_to_v2(plain))
    emptied = v2_to_v1(v1_to_v2({**shown, "status": {"currentReplicas": 0, "desiredReplicas": 0}}))

    (observed,) = json.loads(shown["metadata"]["annotations"][CURRENT_METRICS])
    assert observed["resource"] == {"name": "cpu", "currentAverageUtilization": 35, "currentAverageValue": "0"}
    assert emptied["status"]["currentCPUUtilizationPercentage"] == 35


@pytest.mark.parametrize(
    ("kind", "member", "value"),
    [
        ("ContainerResource", "containerResource", "currentAverageValue"),
        ("Pods", "pods", "currentAverageValue"),
        ("Object", "object", "currentValue"),
        ("External", "external", "currentValue"),
    ],
)
def test_an_observed_metric_of_the_flat_shape_has_a_value_always(kind, member, value):
    assert flat_current({"type": kind, member: {"current": {}, "metric": {"name": "m"}}})[member][value] == "0"
