"""Events between their two shapes; the store holds the core one.

Source: kubernetes pkg/apis/events/v1/conversion.go.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object

_CORE_TO_NEW = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_NEW_TO_CORE = {new: core for core, new in _CORE_TO_NEW.items()}


def from_core_event(event: Object) -> Object:
    """Return the events.k8s.io/v1 form of a stored event."""
    converted = _renamed(event, _CORE_TO_NEW, "events.k8s.io/v1")
    for member in ("reportingController", "reportingInstance"):
        if not converted.get(member):
            converted.pop(member, None)
    return converted


def to_core_event(event: Object) -> Object:
    """Return the core/v1 form, which is stored."""
    return _renamed(event, _NEW_TO_CORE, "v1")


def _renamed(event: Object, names: dict[str, str], api_version: str) -> Object:
    return {**{names.get(key, key): value for key, value in event.items()}, "apiVersion": api_version}
