"""What may change in a pod that exists.

Source: kubernetes pkg/apis/core/validation (ValidatePodUpdate, ValidatePodStatusUpdate, ValidatePodResize,
ValidatePodEphemeralContainersUpdate).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.core.qos import qos_class
from hyperkube_api.core.validation.pod_specs import validate_pod_spec
from hyperkube_api.core.validation.pods import MIRROR
from hyperkube_api.core.validation.scheduling import REQUIRED
from hyperkube_api.meta.go_diff import spec_diff
from hyperkube_api.meta.validation import ip_address

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, required
from hyperkube.machinery.objects import Object, copy_object, name_of

_SPEC = ROOT.child("spec")
_SCHEMA = "hyperkube_api.core.v1:PodSpec"
ONLY = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
RESIZE_ONLY = "only cpu and memory resources are mutable"


def validate_pod_update(pod: Object, old: Object) -> list[FieldError]:
    """Check an update of a pod."""
    spec, old_spec = pod.get("spec") or {}, old.get("spec") or {}
    errors = _mirror_annotation(pod, old)
    if spec == old_spec:  # it was checked when it came
        return errors
    errors += validate_pod_spec(_SPEC, spec, pod_name=name_of(pod))
    errors += _images(spec)
    stop = _container_counts(spec, old_spec)
    if stop:
        return errors + stop
    errors += _deadline(spec.get("activeDeadlineSeconds"), old_spec.get("activeDeadlineSeconds"))
    errors += _tolerations(spec.get("tolerations") or [], old_spec.get("tolerations") or [])
    errors += _gates(spec.get("schedulingGates") or [], old_spec.get("schedulingGates") or [])
    munged = _munged(spec, old_spec)
    if old_spec.get("schedulingGates"):
        errors += _gated(munged, spec, old_spec)
    if munged != old_spec:
        diff = spec_diff(_SCHEMA, old_spec, munged)
        errors.append(forbidden(_SPEC, f"{ONLY}\n{diff}"))
    return errors


def _mirror_annotation(pod: Object, old: Object) -> list[FieldError]:
    now = ((pod.get("metadata") or {}).get("annotations") or {}).get(MIRROR)
    before = ((old.get("metadata") or {}).get("annotations") or {}).get(MIRROR)
    if now == before:
        return []
    return [
        forbidden(ROOT.child("metadata", "annotations").key(MIRROR), "may not be set or changed on an existing pod")
    ]


def _container_counts(spec: Object, old: Object) -> list[FieldError]:
    for member in ("containers", "initContainers"):
        if len(spec.get(member) or ()) != len(old.get(member) or ()):
            return [forbidden(_SPEC.child(member), "pod updates may not add or remove containers")]
    return []


def _images(spec: Object) -> list[FieldError]:
    """Check once more that images are there: the one thing of a container that may change."""
    return [
        required(_SPEC.child(member).index(index).child("image"))
        for member in ("containers", "initContainers")
        for index, container in enumerate(spec.get(member) or ())
        if not container.get("image")
    ]


def _deadline(value: int | None, old: int | None) -> list[FieldError]:
    path = _SPEC.child("activeDeadlineSeconds")
    if value is None:
        if old is not None:
            return [invalid(path, None, "must not update from a positive integer to nil value")]
        return []
    if old is not None and old < value:
        return [invalid(path, value, "must be less than or equal to previous value")]
    return []


def _tolerations(new: Sequence[Object], old: Sequence[Object]) -> list[FieldError]:
    def identity(toleration: Object) -> tuple[str, ...]:
        return tuple(toleration.get(member) or "" for member in ("key", "operator", "value", "effect"))

    kept = {identity(item) for item in new}
    if all(identity(item) in kept for item in old):
        return []
    text = "existing toleration can not be modified except its tolerationSeconds"
    return [forbidden(_SPEC.child("tolerations"), text)]


def _gates(new: Sequence[Object], old: Sequence[Object]) -> list[FieldError]:
    known = {gate.get("name") for gate in old}
    return [
        forbidden(
            _SPEC.child("schedulingGates").index(index).child("name"),
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'",
        )
        for index, gate in enumerate(new)
        if gate.get("name") not in known
    ]


def _munged(spec: Object, old: Object) -> Object:
    """Return the new specification with everything that may change set back."""
    munged = copy_object(spec)
    for member in ("containers", "initContainers"):
        for container, before in zip(munged.get(member) or (), old.get(member) or (), strict=False):
            container["image"] = before.get("image")
    for member in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        _put(munged, member, old.get(member))
    if (old.get("terminationGracePeriodSeconds") or 0) < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        munged["terminationGracePeriodSeconds"] = old["terminationGracePeriodSeconds"]
    return munged


def _put(holder: Object, member: str, value: object) -> None:
    if value is None:
        holder.pop(member, None)
    else:
        holder[member] = value


def _gated(munged: Object, spec: Object, old: Object) -> list[FieldError]:
    """A gated pod may still be told to fewer nodes: selectors and required affinity grow."""
    errors: list[FieldError] = []
    selector, old_selector = spec.get("nodeSelector") or {}, old.get("nodeSelector") or {}
    if selector != old_selector:
        if any(selector.get(key) != value for key, value in old_selector.items()):
            text = "only additions are allowed (no mutations or deletions)"
            errors.append(invalid(_SPEC.child("nodeSelector"), selector, text))
        _put(munged, "nodeSelector", old.get("nodeSelector"))
    affinity, old_affinity = spec.get("affinity") or {}, old.get("affinity") or {}
    node, old_node = affinity.get("nodeAffinity"), old_affinity.get("nodeAffinity")
    if node != old_node:
        if not _terms_grew(node or {}, old_node or {}):
            path = _SPEC.child("affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")
            errors.append(
                invalid(
                    path,
                    (node or {}).get(REQUIRED),
                    "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
                )
            )
        rest = {key: value for key, value in affinity.items() if key != "nodeAffinity"}
        if old_node is not None:
            rest["nodeAffinity"] = old_node
        _put(munged, "affinity", rest or old.get("affinity"))
    return errors


def _terms_grew(node: Object, old: Object) -> bool:
    terms = (node.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    old_terms = (old.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    if not old_terms:
        return True
    if len(terms) != len(old_terms):
        return False
    return all(
        all(item in (term.get(member) or ()) for item in before.get(member) or ())
        for term, before in zip(terms, old_terms, strict=True)
        for member in ("matchExpressions", "matchFields")
    )


def validate_pod_status_update(pod: Object, old: Object) -> list[FieldError]:
    """Check a write to ``/status``."""
    path = ROOT.child("status")
    status, old_status = pod.get("status") or {}, old.get("status") or {}
    errors: list[FieldError] = []
    if (pod.get("spec") or {}).get("nodeName") != (old.get("spec") or {}).get("nodeName"):
        errors.append(forbidden(path.child("nodeName"), "may not be changed directly"))
    nominated = status.get("nominatedNodeName")
    if nominated:
        errors += [
            invalid(path.child("nominatedNodeName"), nominated, text) for text in names.dns1123_subdomain(nominated)
        ]
    if old_status.get("qosClass") and status.get("qosClass") != old_status["qosClass"]:
        errors.append(invalid(path.child("qosClass"), status.get("qosClass") or "", "field is immutable"))
    policy = (old.get("spec") or {}).get("restartPolicy")
    for member in ("containerStatuses", "initContainerStatuses"):
        errors += _restarts(
            path.child(member), status.get(member) or [], old_status.get(member) or [], policy or "", pod
        )
    for index, condition in enumerate(status.get("conditions") or ()):
        at = path.child("conditions").index(index)
        kind = condition.get("type") or ""
        errors += [invalid(at.child("type"), kind, text) for text in names.qualified_name(kind)]
        if (condition.get("observedGeneration") or 0) < 0:
            text = "must be greater than or equal to 0"
            errors.append(invalid(at.child("observedGeneration"), condition["observedGeneration"], text))
    return errors + _addresses(path, status)


def _restarts(
    path: Path, statuses: Sequence[Object], old: Sequence[Object], policy: str, pod: Object
) -> list[FieldError]:
    """A container that ended for good stays ended."""
    if policy == "Always" or path.endswith("initContainerStatuses"):
        return []
    rules = {item.get("name") for item in (pod.get("spec") or {}).get("containers") or () if item.get("restartPolicy")}
    now = {item.get("name"): item for item in statuses}
    errors: list[FieldError] = []
    for index, before in enumerate(old):
        ended = (before.get("state") or {}).get("terminated")
        if ended is None or (ended.get("exitCode") and policy == "OnFailure") or before.get("name") in rules:
            continue
        after = now.get(before.get("name"))
        if after is not None and (after.get("state") or {}).get("terminated") is None:
            errors.append(
                forbidden(path.index(index).child("state"), "may not be transitioned to non-terminated state")
            )
    return errors


def _addresses(path: Path, status: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for member in ("podIPs", "hostIPs"):
        for index, item in enumerate(status.get(member) or ()):
            errors += ip_address(path.child(member).index(index), item.get("ip") or "")
        if errors:
            continue
        addresses = [item.get("ip") or "" for item in status.get(member) or ()]
        families = [":" in address for address in addresses]
        if len(addresses) > 2 or len(set(families)) != len(families):
            text = "may specify no more than one IP for each IP family"
            errors.append(invalid(path.child(member), status.get(member), text))
    hosts = status.get("hostIPs") or []
    if hosts and hosts[0].get("ip") != status.get("hostIP"):
        text = "must be equal to `hostIP`"
        errors.append(invalid(path.child("hostIPs").index(0).child("ip"), hosts[0].get("ip"), text))
    return errors


def validate_ephemeral_containers_update(pod: Object, old: Object) -> list[FieldError]:
    """Check that debugging containers were added only."""
    path = _SPEC.child("ephemeralContainers")
    errors = validate_pod_spec(_SPEC, pod["spec"], pod_name=name_of(pod))
    if ((old.get("metadata") or {}).get("annotations") or {}).get(MIRROR):
        errors.append(forbidden(ROOT, "static pods do not support ephemeral containers"))
    now = {item.get("name"): (index, item) for index, item in enumerate(pod["spec"].get("ephemeralContainers") or ())}
    for before in old["spec"].get("ephemeralContainers") or ():
        name = before.get("name")
        if name not in now:
            errors.append(forbidden(path, f'existing ephemeral containers "{name}" may not be removed\n'))
            continue
        index, after = now[name]
        if after != before:
            diff = spec_diff("hyperkube_api.core.v1:EphemeralContainer", before, after)
            text = f'existing ephemeral containers "{name}" may not be changed\n{diff}'
            errors.append(forbidden(path, text))
            del index
    return errors


def validate_resize(pod: Object, old: Object, wanted: Object) -> list[FieldError]:
    """Check a resize: cpu and memory only, and the quality of service stays.

    Args:
        pod: the pod as it would be.
        old: the pod as it is.
        wanted: the specification that was sent, where other changes show.
    """
    errors = validate_pod_spec(_SPEC, pod["spec"], pod_name=name_of(pod))
    if ((old.get("metadata") or {}).get("annotations") or {}).get(MIRROR):
        errors.append(forbidden(ROOT, "static pods cannot be resized"))
    if (old["spec"].get("os") or {}).get("name") == "windows":
        errors.append(forbidden(ROOT, "windows pods cannot be resized"))
    before, after = (old.get("status") or {}).get("qosClass") or qos_class(old), qos_class(pod)
    if before != after:
        text = "Pod QOS Class may not change as a result of resizing"
        errors.append(invalid(_SPEC, after, text))
    for member in ("containers", "initContainers"):
        errors += _resized_containers(_SPEC.child(member), pod["spec"].get(member) or [], old["spec"].get(member) or [])
    if wanted and _without_resources(wanted) != _without_resources(old["spec"]):
        diff = spec_diff(_SCHEMA, _without_resources(old["spec"]), _without_resources(wanted))
        errors.append(forbidden(_SPEC, f"{RESIZE_ONLY}\n{diff}"))
    return errors


def _resized_containers(path: Path, new: Sequence[Object], old: Sequence[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, (container, before) in enumerate(zip(new, old, strict=False)):
        at = path.index(index).child("resources")
        for member in ("requests", "limits"):
            now = (container.get("resources") or {}).get(member) or {}
            then = (before.get("resources") or {}).get(member) or {}
            if set(then) - set(now):
                errors.append(forbidden(at.child(member), f"resource {member} cannot be removed"))
            others = sorted({*now, *then} - {"cpu", "memory"})
            errors += [forbidden(at, RESIZE_ONLY) for name in others if now.get(name) != then.get(name)]
    return errors


def _without_resources(spec: Object) -> Object:
    bare = copy_object(spec)
    for member in ("containers", "initContainers"):
        for container in bare.get(member) or ():
            container.pop("resources", None)
            container.pop("resizePolicy", None)
    bare.pop("resources", None)
    return bare
