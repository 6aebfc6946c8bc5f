"""How the API server serves events of core/v1."""

from __future__ import annotations

from hyperkube_api.core.events.fields import core_event_fields, event_ttl
from hyperkube_api.core.events.strategy import EventStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def events() -> ResourceSpec:
    """Return the specification of the resource ``events``."""
    return V1.resource(
        "events",
        "Event",
        short_names=("ev",),
        storage_prefix="events",
        storage_version_hash="r2yiGXH7wu8=",
        strategy=EventStrategy(),
        columns=(
            column("Last Seen", field="lastTimestamp"),
            column("Type", field="type"),
            column("Reason", field="reason"),
            column("Object", field="involvedObject"),
            column("Subobject", priority=1, field="involvedObject.fieldPath"),
            column("Source", priority=1, field="source"),
            column("Message", field="message"),
            column("First Seen", priority=1, field="firstTimestamp"),
            column("Count", priority=1, field="count"),
            column("Name", format="name", priority=1),
        ),
        cells=OnFirstUse("hyperkube_api.core.events.table:event_cells"),
        fields=core_event_fields(),
        ttl_seconds=event_ttl,
    )
