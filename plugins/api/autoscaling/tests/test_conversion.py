"""Autoscalers keep all members on the way to v1 and back."""

from hyperkube_api.autoscaling.conversion import v1_to_v2, v2_to_v1

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
    assert v1_to_v2(v2_to_v1(STORED)) == STORED
