"""How an event is created and updated, in core/v1 and in events.k8s.io/v1.

Source: kubernetes pkg/registry/core/event/strategy.go.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from hyperkube_api.core.events.validation import validate_core_event, validate_new_event, validate_new_event_update

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.names import dns1123_subdomain, path_segment_name, path_segment_prefix
from hyperkube.machinery.objects import Object


class EventStrategy(Strategy):
    """What happened to an object; kept for an hour or so."""

    plain_finalizers = True
    metadata_checks: ClassVar[tuple[Literal["object", "change"], ...]] = ()
    allow_create_on_update = True
    default_gc = "Unsupported"

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check a path segment: event names are made from the names of other objects."""
        return path_segment_prefix(name) if prefix else path_segment_name(name)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check what the event is about."""
        return validate_core_event(obj)


class NewEventStrategy(EventStrategy):
    """The event of events.k8s.io: who reports is named, and updates may only extend a series."""

    plain_finalizers = False
    internal_group = ""
    metadata_checks = ("change",)

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check a DNS subdomain."""
        return dns1123_subdomain(name.rstrip("-") + "a" if prefix and name.endswith("-") else name)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check a new event strictly."""
        return validate_new_event(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that only the series changed."""
        return validate_new_event_update(obj, old)
