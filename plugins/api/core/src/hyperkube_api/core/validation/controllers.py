"""Pod templates on their own, replication controllers, and the counts of whatever keeps replicas.

Source: kubernetes pkg/apis/core/validation (ValidateReplicationController and around).
"""

from __future__ import annotations

from hyperkube_api.core.validation.pod_specs import validate_template
from hyperkube_api.meta.validation import NOT_NEGATIVE, counts

from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.labels import Selector, selector_from_map
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
NO_MATCH = "`selector` does not match template `labels`"


def validate_pod_template_object(obj: Object, *, privileged: bool = True) -> list[FieldError]:
    """Check a PodTemplate; `privileged`: the cluster allows privileged containers."""
    return validate_template(ROOT.child("template"), obj.get("template") or {}, privileged=privileged)


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


def validate_running_template(
    path: Path, template: Object | None, selector: Selector | None, kind: str = "ReplicaSet", *, privileged: bool = True
) -> list[FieldError]:
    """Check the template of pods that run for ever and are found by a selector.

    Args:
        path: where it is.
        template: the template.
        selector: what finds its pods.
        kind: whose template it is, as it is called where something is not supported there.
        privileged: whether the cluster allows privileged containers.
    """
    if template is None:
        return [required(path)]
    errors: list[FieldError] = []
    labels = (template.get("metadata") or {}).get("labels") or {}
    if selector is not None and not selector.is_empty and not selector.matches(labels):
        errors.append(invalid(path.child("metadata", "labels"), dict(sorted(labels.items())) or None, NO_MATCH))
    errors += validate_template(path, template, privileged=privileged)
    spec = template.get("spec") or {}
    if spec.get("restartPolicy") != "Always":
        at = path.child("spec", "restartPolicy")
        errors.append(not_supported(at, spec.get("restartPolicy") or "", ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        at = path.child("spec", "activeDeadlineSeconds")
        errors.append(forbidden(at, f"activeDeadlineSeconds in {kind} is not Supported"))
    return errors


def validate_replication_controller_status(obj: Object) -> list[FieldError]:
    """Check the counts of a replication controller."""
    return validate_replica_counts(_STATUS, obj.get("status") or {})


def validate_replica_counts(path: Path, status: Object) -> list[FieldError]:
    """Check counts that may not exceed the number of replicas."""
    members = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
    errors = [
        invalid(path.child(member), status[member], NOT_NEGATIVE) for member in members if (status.get(member) or 0) < 0
    ]
    total, ready = status.get("replicas") or 0, status.get("readyReplicas") or 0
    for member in ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"):
        value = status.get(member) or 0
        if value > total:
            errors.append(invalid(path.child(member), value, "cannot be greater than status.replicas"))
    available = status.get("availableReplicas") or 0
    if available > ready:
        errors.append(invalid(path.child("availableReplicas"), available, "cannot be greater than readyReplicas"))
    return errors
