"""Changes of owners that recur: what becomes of the entries of ``managedFields`` is kept by all that decides it.

Pods of one template get the same fields from the same managers in the same steps, whatever the values. So which entries
lose fields, and which gets some, is worked out once for a change and the entries that it meets. Times, and the order
that they give, are each object's own.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any, TypeAlias

import orjson
from hyperkube_lib.structured_merge import field_sets
from hyperkube_lib.structured_merge.managed_fields import (
    MAX_UPDATE_MANAGERS,
    UPDATE,
    FieldScope,
    Managed,
    Owner,
    entry_of,
    seconds_of,
    strip,
)
from hyperkube_lib.structured_merge.plain_entries import plain_fields
from hyperkube_lib.structured_merge.typed import Comparison

from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import TEMPLATE_MAX, TEMPLATES, Recent

Met: TypeAlias = "tuple[str, str, str, bytes, tuple[tuple[str, str, str, bytes], ...]]"
"""All that decides: version, subresource and manager of the write; the change, as JSON; of each stored entry its
manager, operation, subresource and fields, as JSON."""

_Step: TypeAlias = "tuple[int, Object | None, bool]"
"""What becomes of an entry: its place in the stored list, -1 for a new one; its ``fieldsV1``, None if it stays; whether
it gets the time of the write."""

_NEW = -1
_ORDER = itemgetter(0, 1, 2, 3)
"""Operation, time, manager, subresource; the version is one and the same."""

_steps: Recent[Met, tuple[_Step, ...]] = Recent(TEMPLATES)


def met_by(scope: FieldScope, stored: Any, change: Comparison, manager: str) -> Met | None:
    """Return what decides about the owners after a change; None where that would not be all.

    So it is where an entry is not as this server writes it, or is of another version, and where the oldest managers
    might be merged.
    """
    if len(stored) >= MAX_UPDATE_MANAGERS:
        return None
    version, entries = scope.api_version, []
    for entry in stored:
        text = plain_fields(entry, version)
        if not text:
            return None
        entries.append((entry["manager"], entry["operation"], entry.get("subresource") or "", text))
    changed = orjson.dumps((change.added, change.modified, change.removed))
    return version, scope.subresource, manager, changed, tuple(entries)


def known_entries(scope: FieldScope, stored: Any, met: Met, now: str) -> list[Object] | None:
    """Return the entries after a change that was met before, else None."""
    steps = _steps.get(met)
    if steps is None:
        return None
    ordered = []
    for place, wire, is_written in steps:
        if place == _NEW:
            entry = entry_of(scope.owner(met[2], UPDATE), scope.api_version, now, wire or {})
        else:
            entry = stored[place]
            if is_written or wire is not None:
                entry = entry.copy()
                if is_written:
                    entry["time"] = now
                if wire is not None:
                    entry["fieldsV1"] = wire
        ordered.append(
            (entry["operation"], seconds_of(entry["time"]), entry["manager"], entry.get("subresource") or "", entry)
        )
    ordered.sort(key=_ORDER)
    return [item[-1] for item in ordered]


def learn(scope: FieldScope, stored: Any, change: Comparison | None, manager: str, managed: Managed) -> None:
    """Keep what became of the entries: the owners after a change; nothing of one that is not known."""
    met = met_by(scope, stored, change, manager) if change is not None else None
    if change is None or met is None:
        return
    entries = met[-1]
    places = {
        Owner(name, operation, scope.api_version if operation == UPDATE else "", subresource): place
        for place, (name, operation, subresource, _) in enumerate(entries)
    }
    own = scope.owner(manager, UPDATE)
    if not managed or len(places) != len(entries) or not managed.keys() - {own} <= places.keys():
        return
    is_written = bool(strip(field_sets.union(change.modified, change.added)))
    steps: list[_Step] = []
    for owner, owned in managed.items():
        place, wire = places.get(owner, _NEW), owned.wire()
        stays = place != _NEW and stored[place]["fieldsV1"] == wire
        steps.append((place, None if stays else wire, is_written and owner == own))
    _keep(met, steps)


def learn_renewal(scope: FieldScope, met: Met) -> None:
    """Keep that nothing becomes of the entries but that the manager's own gets the time of the write."""
    own = (met[2] or "unknown", UPDATE, scope.subresource)
    _keep(met, [(place, None, entry[:3] == own) for place, entry in enumerate(met[-1])])


def _keep(met: Met, steps: list[_Step]) -> None:
    if len(met[3]) + sum(len(text) for *_, text in met[-1]) <= TEMPLATE_MAX:
        _steps.keep(met, tuple(steps))
