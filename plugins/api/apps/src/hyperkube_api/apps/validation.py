"""What is wrong with workloads.

Source: kubernetes pkg/apis/apps/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.core.validation.claims import validate_claim_spec
from hyperkube_api.core.validation.controllers import NO_MATCH, validate_replica_counts, validate_running_template
from hyperkube_api.core.validation.pod_specs import validate_template
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import (
    NOT_NEGATIVE,
    at_most_all,
    counts,
    int_or_percent,
    label_selector,
    percent_of,
    unchanged,
)

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.labels import Selector, SelectorError, from_label_selector
from hyperkube.machinery.objects import Object, copy_object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
STATEFUL_MUTABLE = (
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
)  # fmt: skip
STATEFUL_ONLY = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


def validate_controller_revision(obj: Object) -> list[FieldError]:
    """Check a controller revision."""
    data = obj.get("data")
    errors: list[FieldError] = []
    if not isinstance(data, dict):
        text = "data is mandatory" if data is None else "data must be a valid JSON object"
        errors.append(required(ROOT.child("data"), text))
    revision = obj.get("revision") or 0
    if revision < 0:
        errors.append(invalid(ROOT.child("revision"), revision, NOT_NEGATIVE))
    return errors


def validate_controller_revision_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that the data of a controller revision stayed."""
    errors = validate_controller_revision(obj)
    return errors + unchanged(ROOT.child("data"), obj.get("data"), old.get("data"))


def _selector(
    path: Path, spec: Object, kind: str, unreadable: str = "invalid label selector"
) -> tuple[list[FieldError], Selector | None]:
    """Check the selector of a workload; return it unless it is unusable (none at all selects nothing)."""
    selector = spec.get("selector")
    errors = [required(path)] if selector is None else label_selector(path, selector)
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(invalid(path, selector, f"empty selector is invalid for {kind}"))
    try:
        return errors, from_label_selector(selector)
    except SelectorError:
        return [*errors, invalid(path, selector, unreadable)], None


def _template(spec: Object, selector: Selector | None) -> list[FieldError]:
    """Check the template of a workload, which nobody looks at while the selector cannot be read."""
    if selector is None:
        return []
    return validate_running_template(_SPEC.child("template"), spec.get("template") or {}, selector)


def _is_zero(value: int | str | None) -> bool:
    return value in {None, 0} or percent_of(value) == 0


def validate_deployment(obj: Object) -> list[FieldError]:
    """Check a deployment."""
    spec = obj["spec"]
    errors = counts(_SPEC, spec, "replicas")
    wrong, selector = _selector(_SPEC.child("selector"), spec, "deployment")
    errors += wrong
    errors += _template(spec, selector)
    errors += _deployment_strategy(_SPEC.child("strategy"), spec.get("strategy") or {})
    errors += counts(_SPEC, spec, "minReadySeconds", "revisionHistoryLimit")
    deadline, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds") or 0
    if deadline is not None:
        errors += counts(_SPEC, spec, "progressDeadlineSeconds")
        if deadline <= ready:
            text = "must be greater than minReadySeconds"
            errors.append(invalid(_SPEC.child("progressDeadlineSeconds"), deadline, text))
    return errors


def _deployment_strategy(path: Path, strategy: Object) -> list[FieldError]:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            text = "may not be specified when strategy `type` is 'Recreate'"
            return [forbidden(path.child("rollingUpdate"), text)]
        return []
    if kind != "RollingUpdate":
        return [not_supported(path, _shape("DeploymentStrategy", strategy), ("Recreate", "RollingUpdate"))]
    at = path.child("rollingUpdate")
    if rolling is None:
        return [required(at, "this should be defaulted and never be nil")]
    errors = int_or_percent(at.child("maxUnavailable"), rolling.get("maxUnavailable"))
    errors += int_or_percent(at.child("maxSurge"), rolling.get("maxSurge"))
    if _is_zero(rolling.get("maxUnavailable")) and _is_zero(rolling.get("maxSurge")):
        text = "may not be 0 when `maxSurge` is 0"
        errors.append(invalid(at.child("maxUnavailable"), rolling.get("maxUnavailable") or 0, text))
    return errors + at_most_all(at.child("maxUnavailable"), rolling.get("maxUnavailable"))


def _shape(name: str, strategy: Object) -> Object:
    """Return a strategy as Kubernetes shows one: numbers that are not there are zero."""
    shown: Object = go_shape(f"hyperkube_api.apps.v1:{name}", strategy)
    rolling = shown.get("RollingUpdate")
    if rolling is not None and name != "StatefulSetUpdateStrategy":
        shown["RollingUpdate"] = {member: 0 if value is None else value for member, value in rolling.items()}
    elif rolling is not None:
        rolling["Partition"] = rolling["Partition"] or 0
    return shown


def validate_deployment_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a deployment."""
    errors = validate_deployment(obj)
    return errors + unchanged(_SPEC.child("selector"), obj["spec"].get("selector"), old["spec"].get("selector"))


def validate_deployment_status(obj: Object, old: Object) -> list[FieldError]:
    """Check the counts of a deployment."""
    status = obj.get("status") or {}
    members = (
        "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
        "unavailableReplicas", "collisionCount",
    )  # fmt: skip
    errors = counts(_STATUS, status, *members)
    total = status.get("replicas") or 0
    for member in ("updatedReplicas", "readyReplicas", "availableReplicas"):
        value = status.get(member) or 0
        if value > total:
            errors.append(invalid(_STATUS.child(member), value, "cannot be greater than status.replicas"))
    available = status.get("availableReplicas") or 0
    if available > (status.get("readyReplicas") or 0):
        errors.append(invalid(_STATUS.child("availableReplicas"), available, "cannot be greater than readyReplicas"))
    return errors + _collisions(status, old.get("status") or {})


def _collisions(status: Object, old: Object) -> list[FieldError]:
    now, before = status.get("collisionCount"), old.get("collisionCount")
    if before is not None and (now is None or now < before):
        return [invalid(_STATUS.child("collisionCount"), now or 0, "cannot be decremented")]
    return []


def validate_replica_set(obj: Object) -> list[FieldError]:
    """Check a replica set."""
    spec = obj["spec"]
    errors = counts(_SPEC, spec, "replicas", "minReadySeconds")
    wrong, selector = _selector(_SPEC.child("selector"), spec, "deployment")  # Kubernetes' word here, too
    return errors + wrong + _template(spec, selector)


def validate_replica_set_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a replica set."""
    errors = validate_replica_set(obj)
    return errors + unchanged(_SPEC.child("selector"), obj["spec"].get("selector"), old["spec"].get("selector"))


def validate_replica_set_status(obj: Object) -> list[FieldError]:
    """Check the counts of a replica set."""
    return validate_replica_counts(_STATUS, obj.get("status") or {})


def validate_daemon_set(obj: Object) -> list[FieldError]:
    """Check a daemon set."""
    spec = obj["spec"]
    template, at = spec.get("template") or {}, _SPEC.child("template")
    errors = _daemon_selector(_SPEC.child("selector"), spec.get("selector"), template)
    errors += validate_template(at, template)
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") != "Always":
        errors.append(not_supported(at.child("spec", "restartPolicy"), pod.get("restartPolicy") or "", ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        path = _SPEC.child("template", "spec", "activeDeadlineSeconds")
        errors.append(forbidden(path, "activeDeadlineSeconds in DaemonSet is not Supported"))
    errors += counts(_SPEC, spec, "minReadySeconds")
    errors += _daemon_strategy(_SPEC.child("updateStrategy"), spec.get("updateStrategy") or {})
    return errors + counts(_SPEC, spec, "revisionHistoryLimit")


def _daemon_selector(path: Path, selector: Object | None, template: Object) -> list[FieldError]:
    """Check the selector of a daemon set: one that is missing shows by the labels that it does not match."""
    errors = label_selector(path, selector)
    labels = (template.get("metadata") or {}).get("labels") or {}
    try:
        matches = from_label_selector(selector).matches(labels)
    except SelectorError:
        matches = True
    if not matches:
        errors.append(
            invalid(_SPEC.child("template", "metadata", "labels"), dict(sorted(labels.items())) or None, NO_MATCH)
        )
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(invalid(path, selector, "empty selector is invalid for daemonset"))
    return errors


def _daemon_strategy(path: Path, strategy: Object) -> list[FieldError]:
    kind = strategy.get("type") or ""
    if kind == "OnDelete":
        return []
    if kind != "RollingUpdate":
        return [not_supported(path, _shape("DaemonSetUpdateStrategy", strategy), ("RollingUpdate", "OnDelete"))]
    rolling, at = strategy.get("rollingUpdate"), path.child("rollingUpdate")
    if rolling is None:
        return [required(at)]
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    errors = int_or_percent(at.child("maxUnavailable"), unavailable) + int_or_percent(at.child("maxSurge"), surge)
    errors += at_most_all(at.child("maxUnavailable"), unavailable) + at_most_all(at.child("maxSurge"), surge)
    if not _is_zero(unavailable) and not _is_zero(surge):
        errors.append(invalid(at.child("maxSurge"), surge, "may not be set when maxUnavailable is non-zero"))
    elif _is_zero(unavailable) and _is_zero(surge):
        errors.append(required(at.child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
    return errors


def validate_daemon_set_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a daemon set."""
    path = _SPEC.child("selector")
    return unchanged(path, obj["spec"].get("selector"), old["spec"].get("selector")) + validate_daemon_set(obj)


def validate_daemon_set_status(obj: Object, old: Object) -> list[FieldError]:
    """Check the counts of a daemon set."""
    status = obj.get("status") or {}
    members = (
        "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
        "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
    )  # fmt: skip
    return counts(_STATUS, status, *members) + _collisions(status, old.get("status") or {})


def validate_stateful_set(obj: Object, *, create: bool = True) -> list[FieldError]:
    """Check a stateful set."""
    spec = obj["spec"]
    policy = spec.get("podManagementPolicy") or ""
    errors: list[FieldError] = []
    at = _SPEC.child("podManagementPolicy")
    if policy not in {"OrderedReady", "Parallel"}:
        text = "must be 'OrderedReady' or 'Parallel'"
        errors.append(invalid(at, policy, text) if policy else required(at))
    errors += _stateful_strategy(_SPEC.child("updateStrategy"), spec.get("updateStrategy") or {})
    errors += _retention(_SPEC.child("persistentVolumeClaimRetentionPolicy"), spec)
    errors += counts(_SPEC, spec, "replicas", "minReadySeconds")
    start = (spec.get("ordinals") or {}).get("start") or 0
    if start < 0:
        errors.append(invalid(_SPEC.child("ordinals", "start"), start, NOT_NEGATIVE))
    errors += _stateful_selector(spec)
    if create:
        if spec.get("serviceName"):
            path = _SPEC.child("serviceName")
            errors += [invalid(path, spec["serviceName"], text) for text in names.dns1123_label(spec["serviceName"])]
        for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            path = _SPEC.child("volumeClaimTemplates").index(index).child("spec")
            errors += validate_claim_spec(path, claim.get("spec") or {})
    return errors + counts(_SPEC, spec, "revisionHistoryLimit")


def _stateful_strategy(path: Path, strategy: Object) -> list[FieldError]:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    if not kind:
        return [required(path)]
    if kind == "OnDelete":
        if rolling is not None:
            text = "only allowed for updateStrategy 'RollingUpdate'"
            shown = _shape("StatefulSetUpdateStrategy", strategy)["RollingUpdate"]
            return [invalid(path.child("rollingUpdate"), shown, text)]
        return []
    if kind != "RollingUpdate":
        return [invalid(path, _shape("StatefulSetUpdateStrategy", strategy), "must be 'RollingUpdate' or 'OnDelete'")]
    at = path.child("rollingUpdate")
    errors = counts(at, rolling or {}, "partition")
    unavailable = (rolling or {}).get("maxUnavailable")
    if unavailable is not None:
        errors += int_or_percent(at.child("maxUnavailable"), unavailable)
        errors += at_most_all(at.child("maxUnavailable"), unavailable)
        if _is_zero(unavailable):
            errors.append(invalid(at.child("maxUnavailable"), unavailable, "cannot be 0"))
    return errors


def _retention(path: Path, spec: Object) -> list[FieldError]:
    policy = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    return [
        not_supported(path.child(member), policy.get(member) or "", ("Retain", "Delete"))
        for member in ("whenDeleted", "whenScaled")
        if policy and policy.get(member) not in {"Delete", "Retain"}
    ]


def _stateful_selector(spec: Object) -> list[FieldError]:
    errors, selector = _selector(_SPEC.child("selector"), spec, "statefulset", unreadable="")
    template, at = spec.get("template") or {}, _SPEC.child("template")
    labels = (template.get("metadata") or {}).get("labels") or {}
    if selector is not None:
        if not selector.is_empty and not selector.matches(labels):
            errors.append(invalid(at.child("metadata", "labels"), dict(sorted(labels.items())) or None, NO_MATCH))
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
    now = {key: value for key, value in obj["spec"].items() if key not in STATEFUL_MUTABLE}
    before = {key: value for key, value in old["spec"].items() if key not in STATEFUL_MUTABLE}
    if now != before:
        errors.append(forbidden(_SPEC, STATEFUL_ONLY))
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
    return errors + _collisions(status, old.get("status") or {})
