"""Validation of StatefulSets.

Source: kubernetes pkg/apis/apps/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.apps.workloads import check_collision_count, check_selector, is_zero, strategy_shape
from hyperkube_api.core.persistent_volume_claims.validation import validate_claim_spec
from hyperkube_api.core.pod_specs.validation.pod_spec import validate_template, validate_template_metadata
from hyperkube_api.core.workloads import NO_MATCH
from hyperkube_api.meta.validation import NOT_NEGATIVE, at_most_all, counts, int_or_percent

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object, copy_object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
MUTABLE_FIELDS = (
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
)  # fmt: skip
FORBIDDEN_UPDATE = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


def validate_stateful_set(obj: Object, *, create: bool = True) -> list[FieldError]:
    """Check a stateful set."""
    spec = obj["spec"]
    policy = spec.get("podManagementPolicy") or ""
    errors: list[FieldError] = []
    at = _SPEC.child("podManagementPolicy")
    if policy not in {"OrderedReady", "Parallel"}:
        text = "must be 'OrderedReady' or 'Parallel'"
        errors.append(invalid(at, policy, text) if policy else required(at))
    errors += _strategy(_SPEC.child("updateStrategy"), spec.get("updateStrategy") or {})
    errors += _claim_retention(_SPEC.child("persistentVolumeClaimRetentionPolicy"), spec)
    errors += counts(_SPEC, spec, "replicas", "minReadySeconds")
    start = (spec.get("ordinals") or {}).get("start") or 0
    if start < 0:
        errors.append(invalid(_SPEC.child("ordinals", "start"), start, NOT_NEGATIVE))
    errors += _selector(spec)
    if create:
        if spec.get("serviceName"):
            path = _SPEC.child("serviceName")
            errors += [invalid(path, spec["serviceName"], text) for text in names.dns1123_label(spec["serviceName"])]
        for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            path = _SPEC.child("volumeClaimTemplates").index(index).child("spec")
            errors += validate_claim_spec(path, claim.get("spec") or {})
    return errors


def _strategy(path: Path, strategy: Object) -> list[FieldError]:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    if not kind:
        return [required(path)]
    if kind == "OnDelete":
        if rolling is not None:
            text = "only allowed for updateStrategy 'RollingUpdate'"
            shown = strategy_shape("StatefulSetUpdateStrategy", strategy)["RollingUpdate"]
            return [invalid(path.child("rollingUpdate"), shown, text)]
        return []
    if kind != "RollingUpdate":
        return [
            invalid(
                path, strategy_shape("StatefulSetUpdateStrategy", strategy), "must be 'RollingUpdate' or 'OnDelete'"
            )
        ]
    at = path.child("rollingUpdate")
    errors = counts(at, rolling or {}, "partition")
    unavailable = (rolling or {}).get("maxUnavailable")
    if unavailable is not None:
        errors += int_or_percent(at.child("maxUnavailable"), unavailable)
        errors += at_most_all(at.child("maxUnavailable"), unavailable)
        if is_zero(unavailable):
            errors.append(invalid(at.child("maxUnavailable"), unavailable, "cannot be 0"))
    return errors


def _claim_retention(path: Path, spec: Object) -> list[FieldError]:
    policy = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    return [
        not_supported(path.child(member), policy.get(member) or "", ("Retain", "Delete"))
        for member in ("whenDeleted", "whenScaled")
        if policy and policy.get(member) not in {"Delete", "Retain"}
    ]


def _selector(spec: Object) -> list[FieldError]:
    errors, selector = check_selector(_SPEC.child("selector"), spec, "statefulset", unreadable="")
    template, at = spec.get("template") or {}, _SPEC.child("template")
    labels = (template.get("metadata") or {}).get("labels")
    if selector is not None:
        if not selector.is_empty and not selector.matches(labels or {}):
            shown = None if labels is None else dict(sorted(labels.items()))
            errors.append(invalid(at.child("metadata", "labels"), shown, NO_MATCH))
        scratch = copy_object(template)
        claims = {
            claim["metadata"].get("name") for claim in spec.get("volumeClaimTemplates") or () if claim.get("metadata")
        }
        volumes = [item for item in (scratch.get("spec") or {}).get("volumes") or () if item.get("name") not in claims]
        volumes += [
            {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in sorted(filter(None, claims))
        ]
        scratch.setdefault("spec", {})["volumes"] = volumes
        errors += validate_template(at, scratch)
        errors += validate_template_metadata(at, template)  # Kubernetes looks at them in two places
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") != "Always":
        errors.append(not_supported(at.child("spec", "restartPolicy"), pod.get("restartPolicy") or "", ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        text = "activeDeadlineSeconds in StatefulSet is not Supported"
        errors.append(forbidden(at.child("spec", "activeDeadlineSeconds"), text))
    return errors


def validate_stateful_set_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a stateful set: names and volumes stay."""
    errors = validate_stateful_set(obj, create=False)
    now = {key: value for key, value in obj["spec"].items() if key not in MUTABLE_FIELDS}
    before = {key: value for key, value in old["spec"].items() if key not in MUTABLE_FIELDS}
    if now != before:
        errors.append(forbidden(_SPEC, FORBIDDEN_UPDATE))
    return errors


def validate_stateful_set_status(obj: Object, old: Object) -> list[FieldError]:
    """Check the counts of a stateful set."""
    status = obj.get("status") or {}
    members = (
        "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration",
        "collisionCount",
    )  # fmt: skip
    errors = counts(_STATUS, status, *members)
    total = status.get("replicas") or 0
    for member in ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"):
        value = status.get(member) or 0
        if value > total:
            errors.append(invalid(_STATUS.child(member), value, "cannot be greater than status.replicas"))
    available = status.get("availableReplicas") or 0
    if available > (status.get("readyReplicas") or 0):
        text = "cannot be greater than status.readyReplicas"
        errors.append(invalid(_STATUS.child("availableReplicas"), available, text))
    return errors + check_collision_count(status, old.get("status") or {})
