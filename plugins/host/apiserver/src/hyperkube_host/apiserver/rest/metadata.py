"""The rules that every object's metadata obeys, whatever its kind.

Source: kubernetes apimachinery ``pkg/api/validation/objectmeta.go``,
apiserver ``pkg/registry/rest/{create,update}.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from hyperkube.hookspecs.api import Strategy
from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, required, too_long
from hyperkube.machinery.groups import GroupKind, GroupVersion
from hyperkube.machinery.objects import Object

ANNOTATIONS_MAX = 256 * 1024
_METADATA = Path("metadata")
_NAME, _NAMESPACE = _METADATA.child("name"), _METADATA.child("namespace")
_LABELS, _ANNOTATIONS = _METADATA.child("labels"), _METADATA.child("annotations")
_OWNERS, _FINALIZERS = _METADATA.child("ownerReferences"), _METADATA.child("finalizers")
_SHORT = 512
"""Characters of a label that is remembered once it was found right."""
_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_IMMUTABLE = "field is immutable"


def internal_kind(kind: GroupKind, strategy: Strategy) -> GroupKind:
    """Return the kind that refusals name."""
    return kind if strategy.internal_group is None else GroupKind(strategy.internal_group, kind.kind)


def validate_create(obj: Object, *, namespaced: bool, strategy: Strategy) -> list[FieldError]:
    """Return what is wrong with the metadata of a new object; its name was generated already."""
    meta = obj["metadata"]
    errors = _validate_name(obj, strategy)
    errors += _validate_namespace(meta.get("namespace") or "", namespaced=namespaced)
    return errors + _validate_common(meta, _validate_maps_and_owners(meta), plain=strategy.plain_finalizers)


def _validate_name(obj: Object, strategy: Strategy) -> list[FieldError]:
    errors: list[FieldError] = []
    meta = obj["metadata"]
    name = meta.get("name")
    if generated := meta.get("generateName"):
        path = _METADATA.child("generateName")
        texts = strategy.validate_object_name(obj, generated, prefix=True)
        errors += [invalid(path, generated, text) for text in texts]
    if not name:
        return [*errors, required(_NAME, "name or generateName is required")]
    if texts := strategy.validate_object_name(obj, name, prefix=False):
        errors += [invalid(_NAME, name, text) for text in texts]
    return errors


def _validate_namespace(namespace: str, *, namespaced: bool) -> list[FieldError]:
    if not namespaced:
        return [forbidden(_NAMESPACE, "not allowed on this type")] if namespace else []
    if len(namespace) <= names.LABEL_MAX and _is_namespace(namespace):
        return []
    if not namespace:
        return [required(_NAMESPACE)]
    return [invalid(_NAMESPACE, namespace, text) for text in names.dns1123_label(namespace)]


@lru_cache(maxsize=1024)
def _is_namespace(name: str) -> bool:
    return not names.dns1123_label(name)


def _validate_common(meta: Object, maps_and_owners: list[FieldError], *, plain: bool) -> list[FieldError]:
    generation = meta.get("generation") or 0
    errors: list[FieldError] = []
    if generation < 0:
        errors.append(invalid(_METADATA.child("generation"), generation, "must be greater than or equal to 0"))
    errors += maps_and_owners
    finalizers = meta.get("finalizers")
    if not finalizers:
        return errors
    errors += _validate_finalizers(finalizers)
    return errors if plain else errors + _validate_finalizer_paths(meta)


def _validate_maps_and_owners(meta: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if labels := meta.get("labels"):
        errors += validate_labels(labels, _LABELS)
    if annotations := meta.get("annotations"):
        errors += validate_annotations(annotations, _ANNOTATIONS)
    if owners := meta.get("ownerReferences"):
        errors += _validate_owners(owners)
    return errors


@lru_cache(maxsize=4096)
def _is_label(key: str, value: str) -> bool:
    return not (names.label_key(key) or names.label_value(value))


def validate_labels(labels: Mapping[str, str], path: Path) -> list[FieldError]:
    """Return what is wrong with labels."""
    errors: list[FieldError] = []
    for key in sorted(labels):
        if len(key) + len(labels[key]) <= _SHORT and _is_label(key, labels[key]):
            continue
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
    path = _OWNERS
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


def _validate_finalizers(finalizers: Sequence[str]) -> list[FieldError]:
    path = _FINALIZERS
    errors = [invalid(path, finalizer, text) for finalizer in finalizers for text in names.qualified_name(finalizer)]
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        text = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(invalid(path, list(finalizers), text))
    return errors


def _validate_finalizer_paths(meta: Object) -> list[FieldError]:
    """Return which finalizers have no path: the kinds of Kubernetes' core want one, the registry does not."""
    path = _FINALIZERS
    text = "name is neither a standard finalizer name nor is it fully qualified"
    return [
        invalid(path.index(index), finalizer, text)
        for index, finalizer in enumerate(meta.get("finalizers") or [])
        if not is_full_finalizer(finalizer)
    ]


def is_full_finalizer(finalizer: str) -> bool:
    """Tell whether a finalizer is a standard one or has a path."""
    return "/" in finalizer or finalizer in _STANDARD_FINALIZERS


def validate_update(obj: Object, old: Object, *, strategy: Strategy, status: bool = False) -> list[FieldError]:
    """Return what is wrong with the metadata of an update; what the client left out was filled in from `old`.

    The registry checks the object and the change, then the kind does once more what its strategy says; of a write to
    the status kinds look at the change alone.
    """
    meta, plain = obj["metadata"], strategy.plain_finalizers
    maps_and_owners = _validate_maps_and_owners(meta)
    change = _validate_change(meta, old["metadata"]) + maps_and_owners
    errors = [*_validate_common(meta, maps_and_owners, plain=True), *change]
    for check in ("change",) if status else strategy.metadata_checks:
        if check == "object":
            errors += [*_validate_name(obj, strategy), *_validate_common(meta, maps_and_owners, plain=plain)]
        else:
            errors += [*change, *([] if plain else _validate_finalizer_paths(meta))]
    return errors


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


def keep_for_status(meta: Object, before: Object) -> None:
    """Keep what a write to the status does not change where its strategy resets metadata, in place."""
    for member in ("deletionTimestamp", "labels", "annotations", "finalizers", "ownerReferences"):
        _restore(meta, before, member)


def _restore(meta: Object, before: Object, member: str) -> None:
    value: Any = before.get(member)
    if value is None:
        meta.pop(member, None)
    else:
        meta[member] = value
