"""What is wrong with an event, of the core group or of events.k8s.io.

Source: kubernetes pkg/apis/core/validation/events.go.
"""

from __future__ import annotations

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
    about = (event.get("involvedObject") or {}).get("namespace") or ""
    if not event.get("eventTime"):
        return _involved_namespace(event, about, ("", "default"))
    errors = _involved_namespace(event, about, ("default", "kube-system"))
    return errors + _new_style(event, "reportingComponent", "reportingComponent", "message")


def _involved_namespace(event: Object, about: str, defaults: tuple[str, ...]) -> list[FieldError]:
    namespace = namespace_of(event)
    fits = namespace in defaults if not about else namespace == about
    return [] if fits else [invalid(INVOLVED, about, NO_MATCH)]


def _new_style(event: Object, reporter: str, shown: str, note: str) -> list[FieldError]:
    errors: list[FieldError] = []
    at = ROOT.child(shown)
    name = event.get(reporter) or ""
    if not name:
        errors.append(required(at))
    errors += [invalid(at, name, text) for text in names.qualified_name(name)]
    for member, needed, limit in (
        ("reportingInstance", True, 128),
        ("action", True, 128),
        ("reason", True, 128),
        (note, False, 1024),
    ):
        value = event.get(member) or ""
        if needed and not value:
            errors.append(required(ROOT.child(member)))
        if len(value) > limit:
            errors.append(invalid(ROOT.child(member), "", f"can have at most {limit} characters"))
    return errors


def validate_new_event(event: Object) -> list[FieldError]:
    """Check a new event of events.k8s.io."""
    about = (event.get("regarding") or {}).get("namespace") or ""
    errors = _involved_namespace(event, about, ("default", "kube-system"))
    if not event.get("eventTime"):
        errors.append(required(ROOT.child("eventTime")))
    errors += _new_style(event, "reportingController", "reportingController", "note")
    if event.get("type") not in {"Normal", "Warning"}:
        errors.append(invalid(ROOT.child("type"), "", f"has invalid value: {event.get('type') or ''}"))
    for member, shown in _LEGACY_UNSET:
        if event.get(member):
            errors.append(invalid(ROOT.child(shown), "", "needs to be unset"))
    return errors + _series(event.get("series"))


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


def validate_new_event_update(event: Object, old: Object) -> list[FieldError]:
    """Check that an update only extends the series."""
    members = (
        "regarding", "reason", "note", "type", "eventTime", "action", "related", "reportingController",
        "reportingInstance",
    )  # fmt: skip
    shown = {"regarding": "involvedObject", "note": "message"}
    errors = [
        invalid(ROOT.child(shown.get(member, member)), event.get(member), "field is immutable")
        for member in members
        if (event.get(member) or None) != (old.get(member) or None)
    ]
    return errors + _series(event.get("series"))
