"""Keeps ``metadata.managedFields`` at a write that is no apply, by what it touches where that is enough.

Mostly a manager writes again the fields that it has: then the time of its entry is all that changes, which the entries
tell as they are on the wire. Only where owners change as they have not of late are sets of fields read, made and
written.
Source: kubernetes apimachinery ``pkg/util/managedfields/internal/structuredmerge.go`` (Update).
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import orjson
from hyperkube_lib.structured_merge import field_sets
from hyperkube_lib.structured_merge.items import NoElement
from hyperkube_lib.structured_merge.managed_fields import (
    MAX_UPDATE_MANAGERS,
    NEVER_OWNED,
    UPDATE,
    FieldScope,
    Managed,
    ManagedFieldsError,
    decode,
    differences,
    encode,
    entry_of,
    seconds_of,
    set_managed,
    strip,
    updated,
    without_managed,
)
from hyperkube_lib.structured_merge.plain_entries import plain_fields
from hyperkube_lib.structured_merge.recurring_changes import known_entries, learn, learn_renewal, met_by
from hyperkube_lib.structured_merge.typed import Comparison

from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.recent import TEMPLATE_MAX, TEMPLATES, Recent
from hyperkube.machinery.schema.lookup import TypeInfo

_created: Recent[tuple[TypeInfo | None, str, str, str, bytes], Object] = Recent(TEMPLATES)
_entries: Recent[tuple[TypeInfo | None, str, str, str, bytes], Object] = Recent(TEMPLATES // 4)
"""The one entry of new objects made from a JSON, whatever its time."""
_ENTRY_ORDER = itemgetter(0, 1, 2, 3)
"""Operation, time, manager, subresource; the version is one and the same."""


def track_update(scope: FieldScope, live: Object | None, new: Object, manager: str, now: str) -> None:
    """Set the ``managedFields`` of an object that is about to be written by anything but an apply, in place.

    Call it after defaulting and before admission, as Kubernetes does. `live` is the stored object, None on create; the
    list that the request carries counts when it can be read, except through a subresource. Does nothing to an object
    whose fields were not tracked from its creation. `now` is a time as objects have it.
    """
    stored = metadata(live).get("managedFields") if live is not None else None
    new_meta = new.setdefault("metadata", {})
    requested = new_meta.pop("managedFields", None)
    is_subresource = bool(scope.subresource)
    try:
        change = None
        if live is not None and stored and (is_subresource or requested is None or requested == stored):
            change = differences(scope, without_managed(live), new, scope.api_version)
            if change is not None and (entries := _known_or_renewed(scope, stored, change, manager, now)):
                new_meta["managedFields"] = entries
                return
    except NoElement:
        change = None  # to be met again below, if the stored list can be read
    managed = _starting_point(stored, requested, is_subresource=is_subresource) if requested or stored else {}
    if not managed and live is not None:
        return
    try:
        if live is None and not managed:
            if entry := _entry_of_creation(scope, new, manager, now):
                new_meta["managedFields"] = [entry]
            return
        managed = updated(scope, live if live is not None else scope.zero(), new, managed, manager, now, change)
    except NoElement:  # lists that have no elements to own: keep what was known rather than lose it
        if stored:
            new_meta["managedFields"] = stored
        return
    learn(scope, stored, change, manager, managed)
    set_managed(new, managed)


def track_new(scope: FieldScope, new: Object, manager: str, now: str, template: bytes) -> None:
    """Set the ``managedFields`` of a new object that is made from a JSON, as `track_update` does.

    `template` is that JSON: of all but name and namespace, without ``managedFields``. Other bytes will do that tell
    which members the object has, none of them empty. What one manager owns of it, others do.
    """
    key = (scope.info, scope.api_version, scope.ignored_text or repr(scope.ignored), manager, template)
    entry = _entries.get(key)
    if entry is not None:
        new["metadata"]["managedFields"] = [{**entry, "time": now}]
        return
    track_update(scope, None, new, manager, now)
    entries: list[Object] = new["metadata"].get("managedFields", [])
    if len(entries) == 1 and len(template) <= TEMPLATE_MAX:
        _entries.keep(key, {**entries[0]})


def _known_or_renewed(
    scope: FieldScope, stored: Any, change: Comparison, manager: str, now: str
) -> list[Object] | None:
    """Return the entries after a change of which the outcome is known, or is a time alone; else None."""
    met = met_by(scope, stored, change, manager)
    known = known_entries(scope, stored, met, now) if met is not None else None
    if known is not None:
        return known
    entries = renewed_entries(scope, stored, change, manager, now)
    if entries is not None and met is not None:
        learn_renewal(scope, met)
    return entries


def renewed_entries(scope: FieldScope, stored: Any, change: Comparison, manager: str, now: str) -> list[Object] | None:
    """Return the stored entries with the time of the manager's own renewed, None unless that is all that changes.

    So it is when its entry holds all that it wrote, and no other entry any of that, and none what was removed. Entries
    that differ in any way from those that this server writes are left to the long way.
    """
    gained, removed = field_sets.union(change.modified, change.added), change.removed
    if not gained or strip(gained) is not gained or len(stored) > MAX_UPDATE_MANAGERS:
        return None
    version, own = scope.api_version, (manager or "unknown", UPDATE, scope.subresource)
    ordered: dict[tuple[str, str, str], tuple[str, float, str, str, Object]] = {}
    for entry in stored:
        owner = (entry.get("manager"), entry.get("operation"), entry.get("subresource") or "")
        if owner in ordered or not plain_fields(entry, version):
            return None
        wire, time, kept = entry["fieldsV1"], entry["time"], entry
        if owner == own:
            if not field_sets.holds(wire, gained):
                return None
            time = now
            kept = {**entry, "time": time}
        elif field_sets.touches(wire, gained):
            return None
        if removed and field_sets.touches(wire, removed):
            return None
        ordered[owner] = (owner[1], seconds_of(time), owner[0], owner[2], kept)
    if own not in ordered:
        return None
    return [item[-1] for item in sorted(ordered.values(), key=_ENTRY_ORDER)]


def _entry_of_creation(scope: FieldScope, new: Object, manager: str, now: str) -> Object | None:
    """Return the entry of the one owner of a new object, None if it owns nothing.

    Objects made from one template, names apart, share their fields; so do those without lists that have equal members.

    Raises:
        NoElement: a list whose items cannot be told apart.
    """
    meta = {name: value for name, value in new["metadata"].items() if name not in NEVER_OWNED}
    owned = {**new, "metadata": meta}
    shape = _shape(owned) if scope.info is not None else None
    text = orjson.dumps(owned if shape is None else shape)
    key = (scope.info, scope.api_version, scope.subresource, scope.ignored_text or repr(scope.ignored), text)
    wire = _created.get(key)
    if wire is None:
        managed = updated(scope, scope.zero(), new, {}, manager, now)
        if not managed:
            return None
        (entry,) = encode(managed)
        if len(text) <= TEMPLATE_MAX:
            _created.keep(key, entry["fieldsV1"])
        return entry
    return entry_of(scope.owner(manager, UPDATE), scope.api_version, now, wire)


def _shape(obj: Object) -> Object | None:
    """Return an object with the same text and number for all that are not empty; None for one with a list in it.

    Who owns the fields of a new object depends on no more, as it is compared with one of which nothing is set. Events
    are all different, but of a few shapes.
    """
    shape: Object = {}
    for name, value in obj.items():
        kind = value.__class__
        if kind is str:
            shape[name] = value and "x"
        elif kind is dict:
            if (inner := _shape(value)) is None:
                return None
            shape[name] = inner
        elif kind is list:
            return None
        else:
            shape[name] = value if kind is bool or not value else 1
    return shape


def _starting_point(stored: Any, requested: Any, *, is_subresource: bool) -> Managed:
    """Return the owners before an update: those in the request if it has any that can be read."""
    if not is_subresource and requested is not None and requested != stored:
        if requested in ([], [{}]):
            return {}
        try:
            managed = decode(requested)
        except ManagedFieldsError:
            managed = {}
        if managed:
            return managed
    try:
        return decode(stored, canonical=True)
    except ManagedFieldsError:
        return {}
