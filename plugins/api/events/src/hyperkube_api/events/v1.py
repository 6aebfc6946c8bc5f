"""The types of events.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="events.k8s.io",
    version="v1",
    proto="k8s.io.api.events.v1",
    openapi="io.k8s.api.events.v1",
)


class Event(KubeObject):
    """A note of something that happened to an object."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, doc="Standard metadata of the object.")
    eventTime = f.MicroTime(2, required=True, nullable=True)
    series = f.Struct("EventSeries", 3, ptr=True, omitempty=True)
    reportingController = f.String(4, omitempty=True)
    reportingInstance = f.String(5, omitempty=True)
    action = f.String(6, omitempty=True)
    reason = f.String(7, omitempty=True, doc="Why, in one word in CamelCase.")
    regarding = f.Struct("hyperkube_api.core.v1:ObjectReference", 8, omitempty=True)
    related = f.Struct("hyperkube_api.core.v1:ObjectReference", 9, ptr=True, omitempty=True)
    note = f.String(10, omitempty=True)
    type = f.String(11, omitempty=True)
    deprecatedSource = f.Struct("hyperkube_api.core.v1:EventSource", 12, omitempty=True)
    deprecatedFirstTimestamp = f.Time(13, omitempty=True)
    deprecatedLastTimestamp = f.Time(14, omitempty=True)
    deprecatedCount = f.Int32(15, omitempty=True)


class EventList(KubeObject):
    """A list of Event objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Event", 2, required=True, nullable=True, doc="The objects.")


class EventSeries(KubeSchema):
    """Event series: part of Event.series."""

    count = f.Int32(1, required=True)
    lastObservedTime = f.MicroTime(2, required=True, nullable=True)
