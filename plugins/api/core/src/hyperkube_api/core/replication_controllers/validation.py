"""What is wrong with a replication controller.

Source: kubernetes pkg/apis/core/validation (ValidateReplicationController).
"""

from __future__ import annotations

from hyperkube_api.core.workloads import validate_replica_counts, validate_running_template
from hyperkube_api.meta.validation import counts

from hyperkube.machinery.field import ROOT, FieldError, required
from hyperkube.machinery.labels import selector_from_map
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")


def validate_replication_controller(obj: Object, *, privileged: bool = True) -> list[FieldError]:
    """Check a replication controller; `privileged`: the cluster allows privileged containers."""
    spec = obj["spec"]
    errors = counts(_SPEC, spec, "minReadySeconds")
    selector = selector_from_map(spec.get("selector")) if spec.get("selector") else None
    if selector is None:
        errors.append(required(_SPEC.child("selector")))
    if spec.get("replicas") is None:
        errors.append(required(_SPEC.child("replicas"), ""))
    else:
        errors += counts(_SPEC, spec, "replicas")
    kind, template = "ReplicationController", spec.get("template")
    return errors + validate_running_template(_SPEC.child("template"), template, selector, kind, privileged=privileged)


def validate_replication_controller_status(obj: Object) -> list[FieldError]:
    """Check the counts of a replication controller."""
    return validate_replica_counts(_STATUS, obj.get("status") or {})
