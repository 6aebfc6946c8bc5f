"""The validation of autoscalers: one row for each rule, with the texts of Kubernetes."""

import pytest
from hyperkube_api.autoscaling.validation import validate_autoscaler


def an_autoscaler(*metrics, **spec):
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    return {"spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 2, "metrics": list(metrics), **spec}}


def messages(errors):
    """Return each error as a short row: where, what kind, and the detail or the value."""
    return [f"{error.path} {error.reason.removeprefix('FieldValue')} {error.detail or error.value}" for error in errors]


M, T = "spec.metrics[0]", "spec.scaleTargetRef.apiVersion"
KINDS = 'supported values: "ContainerResource", "External", "Object", "Pods", "Resource"'
CPU = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
PODS = {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}}
OBJECT = {**PODS, "describedObject": {"kind": "K", "name": "n"}}


@pytest.mark.parametrize(
    ("obj", "rows"),
    [
        (an_autoscaler(scaleTargetRef={}), [
            "spec.scaleTargetRef.kind Required ",
            "spec.scaleTargetRef.name Required ",
            f"{T} Invalid apiVersion must specify API group",
        ]),
        (an_autoscaler(scaleTargetRef={"apiVersion": "v1", "kind": "Deployment", "name": "d"}), [
            f"{T} Invalid apiVersion must specify API group",
        ]),
        (an_autoscaler(scaleTargetRef={"apiVersion": "v1", "kind": "ReplicationController", "name": "d"}), []),
        (an_autoscaler(scaleTargetRef={"apiVersion": "a/b/c", "kind": "Deployment", "name": "d"}), [
            f"{T} Invalid unexpected GroupVersion string: a/b/c",
        ]),
        (an_autoscaler({}), [
            f"{M}.type Required must specify a metric source type",
            f"{M}.type NotSupported {KINDS}",
            f"{M}.type NotSupported {KINDS}",
        ]),
        (an_autoscaler({"type": "X", "pods": PODS, "resource": {}}), [
            f"{M}.type NotSupported {KINDS}",
            f"{M}.type NotSupported {KINDS}",
            f"{M}.pods Forbidden must populate the given metric source only",
            f"{M}.resource Forbidden must populate the given metric source only",
        ]),
        (an_autoscaler({"type": "Resource", "pods": PODS}), [
            f"{M}.resource Required must populate information for the given metric source",
        ]),
        (an_autoscaler({"type": "Resource", "resource": CPU, "containerResource": {}}), [
            f"{M}.containerResource Forbidden must populate the given metric source only",
        ]),
        (an_autoscaler({"type": "Pods", "pods": {**PODS, "target": {"type": "AverageValue", "averageValue": "0"}}}), [
            f"{M}.pods.target.averageValue Invalid must be positive",
        ]),
        (an_autoscaler({"type": "Pods", "pods": {**PODS, "target": {"averageValue": "1"}}}), [
            f"{M}.pods.target.type Required must specify a metric target type",
            f"{M}.pods.target.type Invalid must be either Utilization, Value, or AverageValue",
        ]),
        (an_autoscaler({"type": "Object", "object": {**OBJECT, "describedObject": {"kind": "a/b", "name": "n"}}}), [
            f"{M}.object.describedObject.kind Invalid may not contain '/'",
        ]),
        (an_autoscaler(behavior={"scaleUp": {
            "tolerance": "-1", "policies": [{"type": "Pods", "value": 1, "periodSeconds": 1}]
        }}), [
            "spec.behavior.scaleUp.tolerance Invalid must be greater than or equal to 0",
        ]),
    ],
)  # fmt: skip
def test_an_autoscaler_that_breaks_a_rule_is_refused(obj, rows):
    assert messages(validate_autoscaler(obj)) == rows
