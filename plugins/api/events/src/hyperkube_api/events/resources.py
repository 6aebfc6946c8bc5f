"""The events group: what happened, in the newer of its two shapes; stored as core events are."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.core.events.fields import event_fields, event_ttl
from hyperkube_api.core.events.strategy import NewEventStrategy
from hyperkube_api.core.events.table import event_cells
from hyperkube_api.events.conversion import from_core_event, to_core_event
from hyperkube_api.meta.specs import Version, columns

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.plugin import Plugin

V1 = Version("events.k8s.io", "v1", "hyperkube_api.events.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "events",
            "Event",
            short_names=("ev",),
            storage_prefix="events",
            storage_version_hash="r2yiGXH7wu8=",
            storage_kind=GroupVersionKind("", "v1", "Event"),
            strategy=NewEventStrategy(),
            columns=columns(
                "Last Seen=lastTimestamp",
                "Type=type",
                "Reason=reason",
                "Object=involvedObject",
                "+Subobject=involvedObject.fieldPath",
                "+Source=source",
                "Message=message",
                "+First Seen=firstTimestamp",
                "+Count=count",
                "+Name:string:name",
                named=False,
                of="hyperkube_api.core.v1:Event",
            ),
            cells=event_cells,
            fields=event_fields(),
            ttl_seconds=event_ttl,
            to_storage=to_core_event,
            from_storage=from_core_event,
        ),
    )


class EventsApi(Plugin):
    """The events group: what happened, in the newer of its two shapes; stored as core events are."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve events.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="events.k8s.io", version="v1", resources=_v1(), group_priority=17_750, version_priority=15
            ),
        ]
