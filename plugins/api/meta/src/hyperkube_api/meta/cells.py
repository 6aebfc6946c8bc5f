"""What table cells of many kinds have in common: ages, labels, containers, selectors.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from hyperkube.machinery.labels import SelectorError, from_label_selector
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import human_duration, parse_micro_time, parse_time

NONE = "<none>"
UNKNOWN = "<unknown>"
UNSET = "<unset>"


def since(text: str | None, now: datetime) -> str:
    """Return how long ago a time was, as people say it; ``<unknown>`` without one."""
    if not text:
        return UNKNOWN
    moment = parse_micro_time(text) if "." in text else parse_time(text)
    return human_duration(now - moment)


def name(obj: Object) -> str:
    """Return the object's name."""
    return str(obj["metadata"].get("name") or "")


def age(obj: Object, now: datetime) -> str:
    """Return how old the object is."""
    return since(obj["metadata"].get("creationTimestamp"), now)


def created(obj: Object) -> Any:
    """Return when the object was made, for columns of dates."""
    return obj["metadata"].get("creationTimestamp")


def joined(values: Sequence[str] | None, empty: str = NONE) -> str:
    """Return the values with commas between them."""
    return ",".join(values) if values else empty


def labels(values: Mapping[str, str] | None) -> str:
    """Return labels as a selector would read them."""
    return joined([f"{key}={value}" for key, value in sorted((values or {}).items())])


def selector(value: Object | None, *, empty: str = NONE, wrong: str = "<error>") -> str:
    """Return a label selector as text, `empty` for one that says nothing, `wrong` for one that cannot be."""
    if not value:
        return empty
    try:
        text = str(from_label_selector(value))
    except SelectorError:
        return wrong
    return text or empty


def containers(template: Object | None) -> list[str]:
    """Return the names and the images of the containers of a pod template."""
    found = ((template or {}).get("spec") or {}).get("containers") or []
    return [",".join(item.get("name") or "" for item in found), ",".join(item.get("image") or "" for item in found)]


def flag(value: bool | None, absent: str = UNSET) -> str:
    """Return a switch that may be unset, as Go writes booleans."""
    return absent if value is None else str(bool(value)).lower()


def spec_of(obj: Object) -> Object:
    """Return the specification or an empty one."""
    return obj.get("spec") or {}


def status_of(obj: Object) -> Object:
    """Return the status or an empty one."""
    return obj.get("status") or {}
