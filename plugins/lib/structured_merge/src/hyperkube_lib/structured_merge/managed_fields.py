"""Who owns which field: reading, writing and updating ``metadata.managedFields``.

An owner is a manager's name together with the operation, the subresource and, for plain updates, the version. Every
write that is no apply moves the fields it changed to its manager, as Kubernetes' field manager does.
Source: kubernetes apimachinery ``pkg/util/managedfields/internal``, structured-merge-diff ``merge/update.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import orjson
from hyperkube_lib.structured_merge import field_sets
from hyperkube_lib.structured_merge.field_sets import FieldSet, FieldSetError
from hyperkube_lib.structured_merge.typed import Comparison, compare

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.recent import Recent
from hyperkube.machinery.schema.lookup import TypeInfo
from hyperkube.machinery.times import TimeError, parse_time

APPLY, UPDATE = "Apply", "Update"
MAX_UPDATE_MANAGERS = 10
_ANCIENT = "ancient-changes"
_LONGEST_TIME = 64
"""Characters of a time; what is longer is none."""

NEVER_OWNED = (
    "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields",
    "resourceVersion",
)  # fmt: skip
_STRIPPED = field_sets.from_paths(
    [("apiVersion",), ("kind",), ("metadata",), *(("metadata", name) for name in NEVER_OWNED)]
)


class ManagedFieldsError(ValueError):
    """A ``managedFields`` list that cannot be read."""


class Owner(NamedTuple):
    """What tells one entry from the others; appliers have no version here, so that they keep one entry."""

    manager: str
    operation: str
    api_version: str = ""
    subresource: str = ""

    def show(self) -> str:
        """Describe the owner as conflict messages do."""
        text = f'"{self.manager}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return f"{text} using {self.api_version}" if self.operation == UPDATE else text


@dataclass(frozen=True, slots=True)
class Owned:
    """The fields of one owner, in one version, with the time of the last change (None: unknown)."""

    fields: FieldSet
    api_version: str
    time: str | None = None
    read: tuple[FieldSet, Object] | None = field(default=None, compare=False)
    """The fields as they were read and their ``fieldsV1``: what has not changed is not written anew."""

    def wire(self) -> Object:
        """Return the fields as a ``fieldsV1``."""
        if self.read is not None and (self.fields is self.read[0] or self.fields == self.read[0]):
            return self.read[1]
        return field_sets.encode(self.fields)


Managed = dict[Owner, Owned]


def _no_versions(_obj: Object, _api_version: str) -> tuple[Object, TypeInfo | None] | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldScope:
    """What field management must know about the place of a write.

    Attributes:
        info: the type of the object in `api_version`; None for custom resources without a schema.
        api_version: the version of the request's objects.
        kind: for messages.
        subresource: empty for the resource itself.
        ignored: fields (with all below) that this place resets anyway, per version: never owned, never in conflict.
        ignored_text: tells these from those of other places.
        zero: makes an object of the kind with nothing set, as the codec writes it: what a create is compared with.
        convert: returns an object in another version with its type; None when that version is not known.
    """

    info: TypeInfo | None
    api_version: str
    kind: str
    subresource: str = ""
    ignored: Mapping[str, FieldSet] = field(default_factory=dict)
    ignored_text: str = ""
    zero: Callable[[], Object] = dict
    convert: Callable[[Object, str], tuple[Object, TypeInfo | None] | None] = _no_versions

    def in_version(self, obj: Object, api_version: str) -> tuple[Object, TypeInfo | None] | None:
        """Return the object in a version, with its type there; None when that version is not known."""
        return (obj, self.info) if api_version == self.api_version else self.convert(obj, api_version)

    def owner(self, manager: str, operation: str) -> Owner:
        """Return the owner that a write at this place makes; a nameless manager is ``unknown``."""
        version = self.api_version if operation == UPDATE else ""
        return Owner(manager or "unknown", operation, version, self.subresource)


def decode(entries: Any, *, canonical: bool = False) -> Managed:
    """Read a ``managedFields`` list.

    Args:
        entries: the list; None is an empty one.
        canonical: whether `encode` wrote it, so that what does not change need not be written anew.

    Raises:
        ManagedFieldsError: an entry that Kubernetes would not read.
    """
    managed: Managed = {}
    for place, entry in enumerate(entries or []):
        operation, version = entry.get("operation"), entry.get("apiVersion")
        if operation not in {APPLY, UPDATE}:
            raise ManagedFieldsError("operation must be `Apply` or `Update`")
        if not version:
            raise ManagedFieldsError("apiVersion must not be empty")
        if entry.get("fieldsType") != "FieldsV1":
            raise ManagedFieldsError(f"missing or invalid fieldsType in managed fields entry {place}")
        owner = Owner(
            entry.get("manager", ""), operation, version if operation == UPDATE else "", entry.get("subresource", "")
        )
        wire = entry.get("fieldsV1") or {}
        try:
            fields = _fields(orjson.dumps(wire))
        except FieldSetError as error:
            raise ManagedFieldsError(f"error decoding set: {error}") from error
        managed[owner] = Owned(fields, version, entry.get("time"), (fields, wire) if canonical else None)
    return managed


def _fields(text: bytes) -> FieldSet:
    """Read a ``fieldsV1``; objects made from one template share theirs, and sets are never changed in place."""
    fields = _read.get(text)
    if fields is None:
        fields = field_sets.decode(orjson.loads(text))
        fields.pop(field_sets.MEMBER, None)
        _read.keep(text, fields)
    return fields


_read: Recent[bytes, FieldSet] = Recent(128)


def encode(managed: Managed) -> list[Object]:
    """Write a ``managedFields`` list in Kubernetes' order: operation, time, manager, version, subresource."""
    entries = []
    for owner, owned in sorted(managed.items(), key=_order) if len(managed) > 1 else managed.items():
        entries.append(entry_of(owner, owned.api_version, owned.time, owned.wire()))
    return entries


def entry_of(owner: Owner, api_version: str, time: str | None, wire: Object) -> Object:
    """Return an item of a ``managedFields`` list; what is empty is left out."""
    entry: Object = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": api_version,
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": wire,
        "subresource": owner.subresource,
    }
    for name in ("manager", "time", "subresource"):
        if not entry[name]:
            del entry[name]
    return entry


def _seconds(owned: Owned) -> float:
    return seconds_of(owned.time) if owned.time else 0


def seconds_of(time: str) -> float:
    """Return the time of an entry as the order of entries counts it: seconds since 1970, 0 if it cannot be read."""
    return _epoch_seconds(time[:_LONGEST_TIME])


@lru_cache(maxsize=64)
def _epoch_seconds(text: str) -> float:
    try:
        return int(parse_time(text).timestamp())
    except TimeError:
        return 0


def _order(item: tuple[Owner, Owned]) -> tuple[str, float, str, str, str]:
    owner, owned = item
    return owner.operation, _seconds(owned), owner.manager, owned.api_version, owner.subresource


def set_managed(obj: Object, managed: Managed) -> None:
    """Write the list into an object's metadata, or remove it when nothing is managed."""
    entries = encode(managed)
    meta = obj.setdefault("metadata", {})
    if entries:
        meta["managedFields"] = entries
    else:
        meta.pop("managedFields", None)


def without_managed(obj: Object) -> Object:
    """Return the object without ``managedFields``, sharing all the rest with it."""
    if "managedFields" not in metadata(obj):
        return obj
    meta = obj["metadata"].copy()
    del meta["managedFields"]
    return {**obj, "metadata": meta}


def strip(fields: FieldSet) -> FieldSet:
    """Return the set without the fields of metadata that are never owned."""
    return field_sets.difference(fields, _STRIPPED)


def differences(scope: FieldScope, old: Object, new: Object, version: str) -> Comparison | None:
    """Compare two objects in a version, without what the scope ignores there; None when the version is not known."""
    before, after, info = old, new, scope.info
    if version != scope.api_version:
        left, right = scope.convert(old, version), scope.convert(new, version)
        if left is None or right is None:
            return None
        (before, info), after = left, right[0]
    ignored = scope.ignored.get(version)
    if not ignored:
        return compare(before, after, info)
    # Members that are ignored as a whole need not even be compared.
    if whole := [element[2:] for element, below in ignored.items() if field_sets.MEMBER in below]:
        before, after = before.copy(), after.copy()
        for name in whole:
            before.pop(name, None)
            after.pop(name, None)
    return compare(before, after, info).without(ignored)


def updated(
    scope: FieldScope,
    live: Object,
    new: Object,
    managed: Managed,
    manager: str,
    now: str,
    own: Comparison | None = None,
) -> Managed:
    """Return the owners after an update from `live` to `new` by a manager.

    Args:
        scope: the place of the write.
        live: the object before, with or without its ``managedFields``.
        new: the object after.
        managed: the owners before.
        manager: who writes.
        now: when, as objects have it.
        own: the differences of the two in the scope's version, when they are known.

    Raises:
        NoElement: a list whose items cannot be told apart.
    """
    old, fresh = without_managed(live), without_managed(new)
    result, own = disowned(scope, old, fresh, managed, own)
    gained = strip(field_sets.union(own.modified, own.added))
    if not gained:
        return result
    owner = scope.owner(manager, UPDATE)
    previous = result.get(owner)
    before = managed.get(owner)
    fields = field_sets.union(gained, previous.fields) if previous is not None else gained
    read = before.read if before is not None else None
    result[owner] = Owned(fields, scope.api_version, now, read)
    return capped(result)


def disowned(
    scope: FieldScope, old: Object, new: Object, managed: Managed, own: Comparison | None = None
) -> tuple[Managed, Comparison]:
    """Take all changed and removed fields away from their owners; owners left with nothing go.

    Args:
        scope: the place of the write.
        old: the object before.
        new: the object after.
        managed: the owners before.
        own: the differences of the two in the scope's version, when they are known.

    Returns:
        The owners, and what changed in the version of the scope.
    """
    own = own or differences(scope, old, new, scope.api_version) or Comparison()
    touched: dict[str, FieldSet | None] = {scope.api_version: own.touched()}
    result: Managed = {}
    for owner, owned in managed.items():
        version = owned.api_version
        if version not in touched:
            change = differences(scope, old, new, version)
            touched[version] = change.touched() if change is not None else None
        changed = touched[version]
        if changed is None:
            continue
        fields = field_sets.difference(owned.fields, changed)
        if fields:
            is_whole = fields is owned.fields
            result[owner] = owned if is_whole else Owned(fields, owned.api_version, owned.time, owned.read)
    return result, own


def capped(managed: Managed) -> Managed:
    """Merge the oldest updaters of a version into one bucket until at most ten are left."""
    updaters = [owner for owner in managed if owner.operation == UPDATE]
    if len(updaters) <= MAX_UPDATE_MANAGERS:
        return managed
    updaters.sort(key=lambda owner: (_seconds(managed[owner]), owner))
    count = len(updaters)
    first: dict[str, Owner] = {}
    for owner in updaters:
        if count <= MAX_UPDATE_MANAGERS:
            break
        owned = managed[owner]
        if owned.api_version not in first:
            first[owned.api_version] = owner
            continue
        bucket = Owner(_ANCIENT, UPDATE, owned.api_version)
        if bucket not in managed:
            managed[bucket] = managed.pop(first[owned.api_version])
        managed[bucket] = replace(owned, fields=field_sets.union(owned.fields, managed[bucket].fields))
        if owner != bucket:
            del managed[owner]
        count -= 1
    return managed


def keep_times_of(live: Object, new: Object) -> None:
    """Put the stored ``managedFields`` back, in place, when they differ from the new ones in their times alone.

    A write that changes nothing else is then no write at all.
    """
    stored, fresh = metadata(live).get("managedFields"), metadata(new).get("managedFields")
    if stored is None or fresh is None or stored == fresh or len(stored) != len(fresh):
        return
    if without_managed(live) != without_managed(new):  # first, as it is cheaper and mostly so
        return
    if sorted(map(_timeless, stored), key=str) == sorted(map(_timeless, fresh), key=str):
        new["metadata"]["managedFields"] = stored


def _timeless(entry: Object) -> Object:
    return {name: value for name, value in entry.items() if name != "time"}
