"""The events group: what happened, in the newer of its two shapes; stored as core events are."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.core.events.fields import event_fields, event_ttl
from hyperkube_api.core.events.strategy import NewEventStrategy
from hyperkube_api.events.conversion import from_core_event, to_core_event
from hyperkube_api.meta.columns import column
from hyperkube_api.meta.specs import OnFirstUse, Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.plugin import Plugin

V1 = Version("events.k8s.io", "v1", "hyperkube_api.events.v1")
_CORE_EVENT = "hyperkube_api.core.v1:Event/"
"""Columns are described as the fields of the stored form are."""


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
            columns=(
                column("Last Seen", field=f"{_CORE_EVENT}lastTimestamp"),
                column("Type", field=f"{_CORE_EVENT}type"),
                column("Reason", field=f"{_CORE_EVENT}reason"),
                column("Object", field=f"{_CORE_EVENT}involvedObject"),
                column("Subobject", priority=1, field=f"{_CORE_EVENT}involvedObject.fieldPath"),
                column("Source", priority=1, field=f"{_CORE_EVENT}source"),
                column("Message", field=f"{_CORE_EVENT}message"),
                column("First Seen", priority=1, field=f"{_CORE_EVENT}firstTimestamp"),
                column("Count", priority=1, field=f"{_CORE_EVENT}count"),
                column("Name", format="name", priority=1),
            ),
            cells=OnFirstUse("hyperkube_api.core.events.table:event_cells"),
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
