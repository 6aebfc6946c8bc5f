"""Server-side apply: an applier says what it wants, and owns that and nothing else.

What it applied before and leaves out now is removed, unless another manager owns it too. What another manager owns
with another value is a conflict, unless forced.
Source: structured-merge-diff ``merge/update.go``, kubernetes apimachinery ``pkg/util/managedfields/internal``.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson
from hyperkube_lib.structured_merge import field_sets, managed_fields, typed
from hyperkube_lib.structured_merge.field_sets import FieldSet
from hyperkube_lib.structured_merge.items import NoElement
from hyperkube_lib.structured_merge.managed_fields import APPLY, FieldScope, Managed, ManagedFieldsError, Owned, Owner
from hyperkube_lib.structured_merge.validate_applied import errors_of, message_of

from hyperkube.machinery.errors import BadRequest, Conflict
from hyperkube.machinery.groups import GroupVersion
from hyperkube.machinery.objects import Object, annotations_of, copy_object, metadata, name_of, namespace_of, uid_of
from hyperkube.machinery.patch.refusal import PatchFailed
from hyperkube.machinery.schema.lookup import TypeInfo
from hyperkube.machinery.times import format_time

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_BEFORE_FIRST_APPLY = "before-first-apply"
_KUBECTL = "kubectl"
_ANNOTATIONS_LIMIT = 256 * 1024

Conflicts = list[tuple[Owner, tuple[str, ...]]]


class ApplyConflict(Conflict):
    """Fields that others own with other values; the causes name owner and field."""

    def __init__(self, conflicts: Conflicts) -> None:
        causes = [
            {
                "reason": "FieldManagerConflict",
                "message": f"conflict with {owner.show()}",
                "field": field_sets.show_path(path),
            }
            for owner, path in conflicts
        ]
        super().__init__(_conflict_message(conflicts), details={"causes": causes})
        self.conflicts = conflicts


def _conflict_message(conflicts: Conflicts) -> str:
    if len(conflicts) == 1:
        owner, path = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {owner.show()}: {field_sets.show_path(path)}"
    lines: list[str] = []
    for shown in dict.fromkeys(owner for owner, _ in sorted(conflicts, key=lambda conflict: conflict[0])):
        lines.append(f"conflicts with {shown.show()}:")
        lines += [f"- {field_sets.show_path(path)}" for owner, path in conflicts if owner == shown]
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)


def apply_configuration(
    scope: FieldScope, live: Object | None, config: Object, *, manager: str, force: bool, now: datetime
) -> Object:
    """Return the object with the configuration applied and its ``managedFields`` brought up to date.

    The arguments stay as they are. `live` is the stored object, None when the apply creates it. The result still has
    to be decoded (emptied lists and maps have become null) and defaulted.

    Raises:
        BadRequest: the configuration has another version, or carries managedFields.
        ApplyConflict: others own fields with other values, and `force` is not set.
        PatchFailed: the configuration does not fit the type, or the stored managedFields cannot be read.
    """
    base = live if live is not None else {**scope.zero(), "apiVersion": scope.api_version, "kind": scope.kind}
    try:
        managed = managed_fields.decode(metadata(base).get("managedFields"))
    except ManagedFieldsError as error:
        raise PatchFailed(f"failed to decode managed fields: {error}") from error
    _check(scope, config)
    if not managed and live is not None and uid_of(live):
        managed = managed_fields.updated(scope, scope.zero(), base, managed, _BEFORE_FIRST_APPLY, format_time(now))
    base = managed_fields.without_managed(base)
    try:
        merged, owners = _apply(scope, base, config, managed, manager, force=force)
    except ApplyConflict as conflict:
        if manager != _KUBECTL or not _only_last_applied(scope, base, conflict):
            raise
        merged, owners = _apply(scope, base, config, managed, manager, force=True)
    except NoElement as error:
        raise PatchFailed(f"failed to merge config: {error}") from error
    return _finished(scope, base, merged, owners, config, manager, now)


def _check(scope: FieldScope, config: Object) -> None:
    version = str(config.get("apiVersion", ""))
    if version != scope.api_version:
        raise BadRequest(
            "Incorrect version specified in apply patch. "
            f"Specified patch version: {version}, expected: {scope.api_version}"
        )
    if metadata(config).get("managedFields") is not None:
        raise BadRequest("metadata.managedFields must be nil")
    errors = errors_of(config, scope.info)
    if errors:
        group, number = GroupVersion.parse(scope.api_version)
        place = f"{namespace_of(config)}/{name_of(config)}; {group}/{number}, Kind={scope.kind}"
        raise PatchFailed(f"failed to create typed patch object ({place}): {message_of(errors)}")


def _apply(
    scope: FieldScope, live: Object, config: Object, managed: Managed, manager: str, *, force: bool
) -> tuple[Object, Managed]:
    """Merge, prune and find conflicts; return the new object and all owners."""
    owner = scope.owner(manager, APPLY)
    merged = typed.merge(live, config, scope.info)
    wanted = typed.field_set_of(config, scope.info)
    wanted = field_sets.recursive_difference(wanted, scope.ignored.get(scope.api_version, {}))
    wanted.pop(field_sets.MEMBER, None)
    last = managed.get(owner)
    owners = {**managed, owner: Owned(wanted, scope.api_version, last.time if last is not None else None)}
    if last is not None and last.fields:
        merged = _pruned(scope, merged, owners, last)
    others = {other: owned for other, owned in owners.items() if other != owner}
    left, _ = managed_fields.disowned(scope, live, merged, others)
    if not force:
        conflicts = _conflicts(scope, live, merged, others)
        if conflicts:
            raise ApplyConflict(conflicts)
    fields = managed_fields.strip(wanted)
    if fields:
        left[owner] = replace(owners[owner], fields=fields)
    return merged, left


def _conflicts(scope: FieldScope, live: Object, merged: Object, others: Managed) -> Conflicts:
    conflicts: Conflicts = []
    for other, owned in others.items():
        change = managed_fields.differences(scope, live, merged, owned.api_version)
        if change is not None:
            touched = field_sets.intersection(owned.fields, field_sets.union(change.modified, change.added))
            conflicts += [(other, path) for path in field_sets.paths(touched)]
    return conflicts


def _pruned(scope: FieldScope, merged: Object, owners: Managed, last: Owned) -> Object:
    """Remove what the applier applied last time and no manager wants now."""
    place = scope.in_version(merged, last.api_version)
    if place is None:
        return merged
    whole, info = place
    last_fields = field_sets.with_named_fields(last.fields, info)
    pruned = typed.remove(whole, last_fields, info) or {}
    pruned = _with_owned_back(scope, whole, pruned, last.api_version, owners)
    before = field_sets.with_named_fields(_set_of(whole, info), info)
    after = field_sets.with_named_fields(_set_of(pruned, info), info)
    gone = field_sets.intersection(field_sets.difference(before, after), last_fields)
    result: Object = typed.remove(whole, gone, info) or {}
    if last.api_version == scope.api_version:
        return result
    back = scope.convert(result, scope.api_version)
    return back[0] if back is not None else merged


def _with_owned_back(scope: FieldScope, whole: Object, pruned: Object, version: str, owners: Managed) -> Object:
    """Keep what any owner still claims, the applier's own new configuration included; that of `version` first."""
    by_version: dict[str, FieldSet] = {version: {}}
    for owned in owners.values():
        by_version[owned.api_version] = field_sets.union(by_version.get(owned.api_version, {}), owned.fields)
    for other, claimed in by_version.items():
        left, right = _between(scope, whole, version, other), _between(scope, pruned, version, other)
        if left is None or right is None:
            continue
        info = left[1]
        keep = field_sets.union(
            field_sets.with_named_fields(_set_of(right[0], info), info), field_sets.with_named_fields(claimed, info)
        )
        gone = field_sets.difference(field_sets.with_named_fields(_set_of(left[0], info), info), keep)
        restored = typed.remove(left[0], gone, info) or {}
        back = _between(scope, restored, other, version)
        pruned = back[0] if back is not None else pruned
    return pruned


def _between(scope: FieldScope, obj: Object, current: str, version: str) -> tuple[Object, TypeInfo | None] | None:
    """Return an object, which is in version `current`, in `version`, with its type there."""
    if current == version:
        same = scope.in_version(obj, version)
        return (obj, same[1]) if same is not None else None
    return scope.in_version(obj, version) if version != scope.api_version else scope.convert(obj, version)


def _set_of(obj: Object, info: TypeInfo | None) -> FieldSet:
    fields = typed.field_set_of(obj, info)
    fields.pop(field_sets.MEMBER, None)
    return fields


def _only_last_applied(scope: FieldScope, live: Object, conflict: ApplyConflict) -> bool:
    """Tell whether all conflicts are over fields that kubectl itself applied on the client's side.

    Raises:
        ApplyConflict: some are; the error names the rest.
    """
    text = annotations_of(live).get(LAST_APPLIED)
    if not text:
        return False
    try:
        last = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    if not isinstance(last, dict) or last.get("apiVersion") != scope.api_version or errors_of(last, scope.info):
        return False
    change = typed.compare(last, live, scope.info)
    allowed = _set_of(last, scope.info)
    for changed in (change.modified, change.added, change.removed):
        allowed = field_sets.difference(allowed, changed)
    rest = [(owner, path) for owner, path in conflict.conflicts if not _contains(allowed, path)]
    if rest:
        raise ApplyConflict(rest)
    return True


def _contains(fields: FieldSet, path: tuple[str, ...]) -> bool:
    for element in path[:-1]:
        fields = fields.get(element, {})
    return field_sets.has(fields, path[-1])


def _finished(
    scope: FieldScope, base: Object, merged: Object, owners: Managed, config: Object, manager: str, now: datetime
) -> Object:
    """Put owners and, for kubectl, the last-applied annotation into a copy of the new object."""
    owner = scope.owner(manager, APPLY)
    if merged != base and owner in owners:
        owners[owner] = replace(owners[owner], time=format_time(now))
    result = copy_object(merged)
    managed_fields.set_managed(result, owners)
    if manager == _KUBECTL and annotations_of(result).get(LAST_APPLIED):
        _set_last_applied(result, config)
    return result


def _set_last_applied(obj: Object, config: Object) -> None:
    plain: dict[str, Any] = copy_object(config)
    annotations = metadata(plain).get("annotations")
    if annotations:
        annotations.pop(LAST_APPLIED, None)
    text = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS).decode() + "\n"
    obj["metadata"]["annotations"][LAST_APPLIED] = text
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations_of(obj).items())
    if size > _ANNOTATIONS_LIMIT:
        del obj["metadata"]["annotations"][LAST_APPLIED]
