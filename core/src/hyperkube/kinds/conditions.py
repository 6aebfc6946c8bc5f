"""Conditions of a status: found by type, and stamped only when they change."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time


def condition(status: Object, condition_type: str) -> Object | None:
    """Return the condition of a type, or None."""
    # A plain loop: controllers ask this of each pod behind a service, dozens of times in a pod's life.
    for entry in status.get("conditions") or ():
        if entry.get("type") == condition_type:
            found: Object = entry
            return found
    return None


def is_true(status: Object, condition_type: str) -> bool:
    """Tell whether a condition is there with status ``True``."""
    found = condition(status, condition_type)
    return found is not None and found.get("status") == "True"


def with_condition(conditions: Iterable[Object], new: Object, now: datetime) -> list[Object]:
    """Return the conditions with `new` (type, status, reason, message) in place of the one of its type.

    ``lastTransitionTime`` moves only when the status changes; an equal condition stays as it is.
    """
    listed = list(conditions)
    for index, old in enumerate(listed):
        if old.get("type") != new["type"]:
            continue
        if all(old.get(key, "") == value for key, value in new.items() if key != "lastUpdateTime"):
            return listed
        same = old.get("status") == new["status"]
        since = old.get("lastTransitionTime") if same else None
        listed[index] = {**new, "lastTransitionTime": since or format_time(now)}
        return listed
    return [*listed, {**new, "lastTransitionTime": format_time(now)}]


def without_condition(conditions: Iterable[Object], condition_type: str) -> list[Object]:
    """Return the conditions but the one of that type."""
    return [entry for entry in conditions if entry.get("type") != condition_type]
