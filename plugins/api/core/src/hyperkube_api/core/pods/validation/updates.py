"""What may change in a pod that exists.

Source: kubernetes pkg/apis/core/validation (ValidatePodUpdate, ValidatePodEphemeralContainersUpdate).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.core.pod_specs.annotations import MIRROR
from hyperkube_api.core.pod_specs.validation.annotations import validate_annotations_kept, validate_pod_annotations
from hyperkube_api.core.pod_specs.validation.containers import padded_image
from hyperkube_api.core.pod_specs.validation.pod_spec import MAX_DEADLINE
from hyperkube_api.core.pod_specs.validation.scheduling import REQUIRED, validate_tolerations
from hyperkube_api.core.pods.validation.pod import WHOLE, validate_body

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, forbidden, invalid, required
from hyperkube.machinery.objects import Object, annotations_of, copy_object

_SPEC = ROOT.child("spec")
_ANNOTATIONS = ROOT.child("metadata", "annotations")
_SCHEMA = "hyperkube_api.core.v1:PodSpec"
ONLY = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
ONLY_MORE = "only additions are allowed (no mutations or deletions)"


def validate_pod_update(pod: Object, old: Object, *, privileged: bool = True) -> list[FieldError]:
    """Check an update of a pod.

    Kubernetes looks at annotations, images and tolerations twice and reports each fault as often.
    """
    spec, old_spec = pod.get("spec") or {}, old.get("spec") or {}
    if spec == old_spec and annotations_of(pod) == annotations_of(old):  # it was checked when it came
        return []
    errors = validate_body(pod, privileged=privileged) + annotation_changes(pod, old)
    for member in ("containers", "initContainers"):
        errors += _images(spec, member) if _as_many(spec, old_spec, member) else []
        if not _as_many(spec, old_spec, member):
            return [*errors, forbidden(_SPEC.child(member), "pod updates may not add or remove containers")]
    wrong, stop = _deadline(spec.get("activeDeadlineSeconds"), old_spec.get("activeDeadlineSeconds"))
    errors += wrong
    if stop:
        return errors
    errors += _tolerations(spec.get("tolerations") or [], old_spec.get("tolerations") or [])
    errors += _gates(spec.get("schedulingGates") or [], old_spec.get("schedulingGates") or [])
    if spec == old_spec:
        return errors
    munged = _munged(spec, old_spec)
    if old_spec.get("schedulingGates"):
        errors += _gated(munged, spec, old_spec)
    if munged != old_spec:
        from hyperkube_api.meta.go_diff import spec_diff  # with the first refusal

        diff = spec_diff(_SCHEMA, old_spec, munged)
        errors.append(forbidden(_SPEC, f"{ONLY}\n{diff}"))
    return errors


def annotation_changes(pod: Object, old: Object) -> list[FieldError]:
    """Check the annotations of a pod that is changed, and that some of them stayed."""
    now, before = annotations_of(pod), annotations_of(old)
    if now == before:
        return []
    errors = validate_annotations_kept(_ANNOTATIONS, now, before)
    return errors + validate_pod_annotations(_ANNOTATIONS, now, pod.get("spec") or {})


def _as_many(spec: Object, old: Object, member: str) -> bool:
    return len(spec.get(member) or ()) == len(old.get(member) or ())


def _images(spec: Object, member: str) -> list[FieldError]:
    """Check images once more: the one thing of a container that may change."""
    errors: list[FieldError] = []
    for index, container in enumerate(spec.get(member) or ()):
        at = _SPEC.child(member).index(index)
        if not container.get("image"):
            errors.append(required(at.child("image")))
        errors += padded_image(at, container)
    return errors


def _deadline(value: int | None, old: int | None) -> tuple[list[FieldError], bool]:
    """Return what is wrong with a pod's new time limit, and whether that says enough."""
    path = _SPEC.child("activeDeadlineSeconds")
    if value is None:
        text = "must not update from a positive integer to nil value"
        return ([] if old is None else [invalid(path, None, text)]), False
    wrong = names.in_range(value, 0, MAX_DEADLINE)
    if not wrong and old is not None and old < value:
        wrong = ["must be less than or equal to previous value"]
    return [invalid(path, value, text) for text in wrong], bool(wrong)


def _tolerations(new: Sequence[Object], old: Sequence[Object]) -> list[FieldError]:
    def identity(toleration: Object) -> tuple[str, ...]:
        return tuple(toleration.get(member) or "" for member in ("key", "operator", "value", "effect"))

    path, kept = _SPEC.child("tolerations"), {identity(item) for item in new}
    if all(identity(item) in kept for item in old):
        return validate_tolerations(path, new)
    return [forbidden(path, "existing toleration can not be modified except its tolerationSeconds")]


def _gates(new: Sequence[Object], old: Sequence[Object]) -> list[FieldError]:
    known = {gate.get("name") for gate in old}
    return [
        forbidden(
            _SPEC.child("schedulingGates").index(index).child("name"),
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name') or ''}'",
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
            text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            errors.append(invalid(_SPEC.child("nodeSelector"), selector or None, text))
        _put(munged, "nodeSelector", old.get("nodeSelector"))
    affinity, old_affinity = spec.get("affinity") or {}, old.get("affinity") or {}
    node, old_node = affinity.get("nodeAffinity"), old_affinity.get("nodeAffinity")
    if node != old_node:
        errors += _narrowed(_terms(node), _terms(old_node))
        rest = {key: value for key, value in affinity.items() if key != "nodeAffinity"}
        if old_node is not None:
            rest["nodeAffinity"] = old_node
        _put(munged, "affinity", rest or old.get("affinity"))
    return errors


def _terms(node: Object | None) -> list[Object]:
    return ((node or {}).get(REQUIRED) or {}).get("nodeSelectorTerms") or []


def _narrowed(terms: list[Object], old: list[Object]) -> list[FieldError]:
    """Check that each term on nodes only got more expressions behind those it had."""
    if not old:
        return []
    path = _SPEC.child("affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")
    if len(terms) != len(old):
        text = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [invalid(path, [_term_shape(term) for term in terms] or None, text)]
    return [
        invalid(path.index(index), _term_shape(term), ONLY_MORE)
        for index, (term, before) in enumerate(zip(terms, old, strict=True))
        if not _grew(term, before)
    ]


def _term_shape(term: Object) -> object:
    from hyperkube_api.meta.go_shape import go_shape

    return go_shape("hyperkube_api.core.v1:NodeSelectorTerm", term)


def _grew(term: Object, before: Object) -> bool:
    members = ("matchExpressions", "matchFields")
    if not any(before.get(member) for member in members):  # matches no node, and will not
        return not any(term.get(member) for member in members)
    return all(
        (term.get(member) or [])[: len(before.get(member) or ())] == (before.get(member) or []) for member in members
    )


def validate_ephemeral_containers_update(pod: Object, old: Object, *, privileged: bool = True) -> list[FieldError]:
    """Check that debugging containers were added only."""
    if MIRROR in annotations_of(old):
        return [forbidden(WHOLE, "static pods do not support ephemeral containers")]
    path = _SPEC.child("ephemeralContainers")
    errors = validate_body(pod, privileged=privileged) + annotation_changes(pod, old)
    now = {item.get("name"): item for item in pod["spec"].get("ephemeralContainers") or ()}
    for before in old["spec"].get("ephemeralContainers") or ():
        name = before.get("name")
        if name not in now:
            errors.append(forbidden(path, f'existing ephemeral containers "{name}" may not be removed\n'))
        elif now[name] != before:
            from hyperkube_api.meta.go_diff import spec_diff

            diff = spec_diff("hyperkube_api.core.v1:EphemeralContainer", before, now[name])
            text = f'existing ephemeral containers "{name}" may not be changed\n{diff}'
            errors.append(forbidden(path, text))
    return errors
