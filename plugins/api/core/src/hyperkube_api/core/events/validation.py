"""What is wrong with an event, of the core group or of events.k8s.io.

Source: kubernetes pkg/apis/core/validation/events.go.
"""

from __future__ import annotations

from typing import Any

from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, invalid, required
from hyperkube.machinery.objects import Object, namespace_of

INVOLVED = ROOT.child("involvedObject", "namespace")
NO_MATCH = "does not match event.namespace"
_LEGACY_UNSET = (
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("deprecatedSource", "source"),
)


def validate_core_event(event: Object) -> list[FieldError]:
    """Check a core event: its namespace fits what it is about; one with an event time is checked more strictly."""
    return _legacy(event, event.get("involvedObject"), "reportingComponent", event.get("message"))


def _legacy(event: Object, about: Object | None, reporter: str, message: str | None) -> list[FieldError]:
    """Check what both versions ask for; the paths are the core group's, but for the member that names the reporter."""
    namespace, involved = namespace_of(event), (about or {}).get("namespace") or ""
    errors: list[FieldError] = []
    if not event.get("eventTime"):
        fits = namespace == involved if involved else namespace in {"", "default"}
    else:
        fits = bool(involved) or namespace in {"default", "kube-system"}
    if not fits:
        errors.append(invalid(INVOLVED, involved, NO_MATCH))
    if event.get("eventTime"):
        errors += _reported(event, reporter, message or "")
    return errors + [invalid(ROOT.child("namespace"), namespace, text) for text in names.dns1123_subdomain(namespace)]


def _reported(event: Object, member_of_reporter: str, message: str) -> list[FieldError]:
    at, reporter = ROOT.child(member_of_reporter), event.get(member_of_reporter) or ""
    errors = [] if reporter else [required(at)]
    errors += [invalid(at, reporter, text) for text in names.qualified_name(reporter)]
    for member in ("reportingInstance", "action", "reason"):
        value = event.get(member) or ""
        if not value:
            errors.append(required(ROOT.child(member)))
        errors += _limited(member, value, 128)
    return errors + _limited("message", message, 1024)


def _limited(member: str, value: str, limit: int) -> list[FieldError]:
    if len(value.encode()) <= limit:
        return []
    return [invalid(ROOT.child(member), "", f"can have at most {limit} characters")]


def _strict_legacy(event: Object) -> list[FieldError]:
    return _legacy(event, event.get("regarding"), "reportingController", event.get("note"))


def validate_new_event(event: Object) -> list[FieldError]:
    """Check a new event of events.k8s.io."""
    errors = _strict_legacy(event) + _series(event.get("series"))
    if not event.get("eventTime"):
        errors.append(required(ROOT.child("eventTime")))
    if event.get("type") not in {"Normal", "Warning"}:
        errors.append(invalid(ROOT.child("type"), "", f"has invalid value: {event.get('type') or ''}"))
    for member, shown in _LEGACY_UNSET:
        if event.get(member):
            errors.append(invalid(ROOT.child(shown), "", "needs to be unset"))
    return errors


def _series(series: Object | None) -> list[FieldError]:
    if series is None:
        return []
    errors: list[FieldError] = []
    path = ROOT.child("series")
    if (series.get("count") or 0) < 2:
        errors.append(invalid(path.child("count"), "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        errors.append(required(path.child("lastObservedTime")))
    return errors


_IMMUTABLE_MEMBERS = (
    ("regarding", "involvedObject", "ObjectReference"),
    ("reason", "reason", ""),
    ("note", "message", ""),
    ("deprecatedSource", "source", "EventSource"),
    ("deprecatedFirstTimestamp", "firstTimestamp", ""),
    ("deprecatedLastTimestamp", "lastTimestamp", ""),
    ("deprecatedCount", "count", ""),
    ("reason", "reason", ""),
    ("type", "type", ""),
    ("eventTime", "eventTime", ""),
    ("action", "action", ""),
    ("related", "related", "ObjectReference"),
    ("reportingController", "reportingController", ""),
    ("reportingInstance", "reportingInstance", ""),
)
"""Member, the core group's name for it, and its type if it is a struct; in Kubernetes' order (one comes twice)."""


def validate_new_event_update(event: Object, old: Object) -> list[FieldError]:
    """Check that an update only extends the series."""
    errors = _strict_legacy(event)
    if event.get("series") != old.get("series"):
        errors += _series(event.get("series"))
    for member, shown, struct in _IMMUTABLE_MEMBERS:
        value = event.get(member)
        if (value or None) != (old.get(member) or None):
            errors.append(invalid(ROOT.child(shown), _internal(member, struct, value), IMMUTABLE))
    return errors


def _internal(member: str, struct: str, value: Any) -> Any:
    """Return a value as the internal type shows it."""
    if struct:
        is_absent_pointer = value is None and member == "related"
        return None if is_absent_pointer else go_shape(f"hyperkube_api.core.v1:{struct}", value or {})
    if value is None and member == "deprecatedCount":
        return 0
    return value if value is not None or member.endswith(("Time", "Timestamp")) else ""
