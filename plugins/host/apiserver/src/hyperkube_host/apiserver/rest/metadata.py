"""The rules that every object's metadata obeys, whatever its kind.

Source: kubernetes apimachinery ``pkg/api/validation/objectmeta.go``,
apiserver ``pkg/registry/rest/{create,update}.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube.hookspecs.api import Strategy
from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, required, too_long
from hyperkube.machinery.groups import GroupVersion
from hyperkube.machinery.objects import Object

ANNOTATIONS_MAX = 256 * 1024
_METADATA = Path("metadata")
_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_IMMUTABLE = "field is immutable"


def validate_create(obj: Object, *, namespaced: bool, strategy: Strategy) -> list[FieldError]:
    """Return what is wrong with the metadata of a new object; its name was generated already."""
    meta = obj["metadata"]
    errors = _validate_name(meta, strategy)
    generation = meta.get("generation") or 0
    if generation < 0:
        errors.append(invalid(_METADATA.child("generation"), generation, "must be greater than or equal to 0"))
    errors += _validate_namespace(meta.get("namespace") or "", namespaced=namespaced)
    return errors + _validate_common(meta, plain=strategy.plain_finalizers)


def _validate_name(meta: Object, strategy: Strategy) -> list[FieldError]:
    errors: list[FieldError] = []
    generated, name = meta.get("generateName"), meta.get("name")
    if generated:
        path = _METADATA.child("generateName")
        errors += [invalid(path, generated, text) for text in strategy.validate_name(generated, prefix=True)]
    path = _METADATA.child("name")
    if not name:
        return [*errors, required(path, "name or generateName is required")]
    return errors + [invalid(path, name, text) for text in strategy.validate_name(name, prefix=False)]


def _validate_namespace(namespace: str, *, namespaced: bool) -> list[FieldError]:
    path = _METADATA.child("namespace")
    if not namespaced:
        return [forbidden(path, "not allowed on this type")] if namespace else []
    if not namespace:
        return [required(path)]
    return [invalid(path, namespace, text) for text in names.dns1123_label(namespace)]


def _validate_common(meta: Object, *, plain: bool) -> list[FieldError]:
    return [
        *validate_labels(meta.get("labels") or {}, _METADATA.child("labels")),
        *validate_annotations(meta.get("annotations") or {}, _METADATA.child("annotations")),
        *_validate_owners(meta.get("ownerReferences") or []),
        *_validate_finalizers(meta.get("finalizers") or [], plain=plain),
    ]


def validate_labels(labels: Mapping[str, str], path: Path) -> list[FieldError]:
    """Return what is wrong with labels."""
    errors: list[FieldError] = []
    for key in sorted(labels):
        errors += [invalid(path, key, text) for text in names.label_key(key)]
        errors += [invalid(path, labels[key], text) for text in names.label_value(labels[key])]
    return errors


def validate_annotations(annotations: Mapping[str, str], path: Path) -> list[FieldError]:
    """Return what is wrong with annotations."""
    errors = [invalid(path, key, text) for key in sorted(annotations) for text in names.qualified_name(key.lower())]
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    if size > ANNOTATIONS_MAX:
        errors.append(too_long(path, ANNOTATIONS_MAX))
    return errors


def _validate_owners(owners: Sequence[Object]) -> list[FieldError]:
    path = _METADATA.child("ownerReferences")
    errors: list[FieldError] = []
    controller: Object | None = None
    for owner in owners:
        errors += _validate_owner(owner, path)
        if not owner.get("controller"):
            continue
        if controller is None:
            controller = owner
            continue
        pair = f"{controller.get('kind')}/{controller.get('name')} and {owner.get('kind')}/{owner.get('name')}"
        text = f'Only one reference can have Controller set to true. Found "true" in references for {pair}'
        errors.append(invalid(path, owners, text))
    return errors


def _validate_owner(owner: Object, path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    api_version = owner.get("apiVersion") or ""
    try:
        version = GroupVersion.parse(api_version)
    except ValueError as error:
        return [invalid(path.child("apiVersion"), api_version, str(error))]
    if not version.version:
        errors.append(invalid(path.child("apiVersion"), api_version, "version must not be empty"))
    errors += [
        invalid(path.child(member), "", "must not be empty")
        for member in ("kind", "name", "uid")
        if not owner.get(member)
    ]
    if (version.group, version.version, owner.get("kind")) == ("", "v1", "Event"):
        errors.append(invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner"))
    return errors


def _validate_finalizers(finalizers: Sequence[str], *, plain: bool) -> list[FieldError]:
    path = _METADATA.child("finalizers")
    errors: list[FieldError] = []
    for index, finalizer in enumerate(finalizers):
        errors += [invalid(path, finalizer, text) for text in names.qualified_name(finalizer)]
        if not plain and not is_full_finalizer(finalizer):
            text = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid(path.index(index), finalizer, text))
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        text = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(invalid(path, list(finalizers), text))
    return errors


def is_full_finalizer(finalizer: str) -> bool:
    """Tell whether a finalizer is a standard one or has a path."""
    return "/" in finalizer or finalizer in _STANDARD_FINALIZERS


def validate_update(obj: Object, old: Object, *, own: bool = False, plain: bool = False) -> list[FieldError]:
    """Return what is wrong with the metadata of an update; what the client left out was filled in from `old`.

    Built-in kinds check their metadata again, as an update and as an object (not so custom resources, `own`): clients
    see each error as often as Kubernetes finds it. `plain` tells that finalizers need no path.
    """
    common = _validate_common(obj["metadata"], plain=plain)
    change = [*_validate_change(obj["metadata"], old["metadata"]), *common]
    return [*common, *change, *change, *([] if own else common)]


def _validate_change(meta: Object, before: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if before.get("deletionTimestamp"):
        errors += _no_new_finalizers(meta.get("finalizers") or [], before.get("finalizers") or [])
    for member in ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        if meta.get(member) != before.get(member):
            errors.append(invalid(_METADATA.child(member), meta.get(member), _IMMUTABLE))
    return errors


def _no_new_finalizers(new: Sequence[str], old: Sequence[str]) -> list[FieldError]:
    added = [finalizer for finalizer in new if finalizer not in old]
    if not added:
        return []
    listed = ", ".join(f'"{finalizer}"' for finalizer in added)
    text = f"no new finalizers can be added if the object is being deleted, found new finalizers []string{{{listed}}}"
    return [forbidden(_METADATA.child("finalizers"), text)]


def keep_system_fields(meta: Object, before: Object) -> None:
    """Keep what the system knows better and fill in what the client may leave out, in place.

    A deletion that is under way can neither be taken back nor moved; one that is not cannot be begun by an update,
    which validation then says.
    """
    for member in ("uid", "deletionGracePeriodSeconds"):
        if not meta.get(member) and before.get(member) is not None:
            meta[member] = before[member]
    for member in ("generation", "creationTimestamp"):
        _restore(meta, before, member)
    if before.get("deletionTimestamp"):
        meta["deletionTimestamp"] = before["deletionTimestamp"]
    meta.pop("selfLink", None)


def _restore(meta: Object, before: Object, member: str) -> None:
    value: Any = before.get(member)
    if value is None:
        meta.pop(member, None)
    else:
        meta[member] = value
