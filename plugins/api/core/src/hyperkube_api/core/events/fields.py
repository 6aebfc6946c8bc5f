"""What events can be selected by, in both of their shapes, and how long they live.

Source: kubernetes pkg/registry/core/event/strategy.go.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_api.meta.specs import fields

from hyperkube.hookspecs.api_services import ApiServices
from hyperkube.machinery.objects import Object

REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")


def core_event_fields() -> dict[str, Callable[[Object], str]]:
    """Return the field selectors of core/v1 events."""
    paths = [f"involvedObject.{member}" for member in REFERENCE]
    return {**fields("type", "reason", "reportingComponent", *paths), "source": _source}


def event_fields() -> dict[str, Callable[[Object], str]]:
    """Return the field selectors of events.k8s.io/v1 events."""
    return fields("type", "reason", "reportingController", *(f"regarding.{member}" for member in REFERENCE))


def _source(event: Object) -> str:
    """Return the reporting component; events written the new way name it elsewhere."""
    return str((event.get("source") or {}).get("component") or event.get("reportingComponent") or "")


def event_ttl(services: ApiServices) -> int:
    """Return how many seconds events are kept."""
    return services.event_seconds
