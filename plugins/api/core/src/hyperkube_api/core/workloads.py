"""What is wrong with the template or the counts of a controller that keeps replicas, in core and in apps.

Source: kubernetes pkg/apis/core/validation (ValidatePodTemplateSpecForRC, ValidateReplicationControllerStatus).
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.validation.pod_spec import validate_template
from hyperkube_api.meta.validation import NOT_NEGATIVE

from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.labels import Selector
from hyperkube.machinery.objects import Object

NO_MATCH = "`selector` does not match template `labels`"


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
    labels = (template.get("metadata") or {}).get("labels")
    if selector is not None and not selector.is_empty and not selector.matches(labels or {}):
        shown = None if labels is None else dict(sorted(labels.items()))
        errors.append(invalid(path.child("metadata", "labels"), shown, NO_MATCH))
    errors += validate_template(path, template, privileged=privileged)
    spec = template.get("spec") or {}
    if spec.get("restartPolicy") != "Always":
        at = path.child("spec", "restartPolicy")
        errors.append(not_supported(at, spec.get("restartPolicy") or "", ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        at = path.child("spec", "activeDeadlineSeconds")
        errors.append(forbidden(at, f"activeDeadlineSeconds in {kind} is not Supported"))
    return errors


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
