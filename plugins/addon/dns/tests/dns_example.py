"""The cluster of ``cluster.yaml``, about which the tests ask."""

from pathlib import Path

import yaml
from hyperkube_addon.dns.records import (
    RecordSet,
    ServiceKey,
    project_namespace,
    project_service,
    project_slice,
    service_of,
    service_records,
)
from hyperkube_addon.dns.zone import Zone

from hyperkube.machinery.objects import name_of, namespace_of

FOLDER = Path(__file__).parent


def objects():
    """Return the cluster's objects."""
    return yaml.safe_load((FOLDER / "cluster.yaml").read_text())


def build(objects):
    """Return the zone of a cluster."""
    records = RecordSet()
    slices = [project_slice(obj) for obj in objects if obj["kind"] == "EndpointSlice"]
    for obj in objects:
        if obj["kind"] == "Namespace":
            records.set_namespace(name_of(project_namespace(obj)), exists=True)
        if obj["kind"] == "Service":
            own = [row for row in slices if namespace_of(row) == namespace_of(obj) and service_of(row) == name_of(obj)]
            key = ServiceKey(namespace_of(obj), name_of(obj))
            records.put(key, service_records(project_service(obj), own, "cluster.local"))
    return Zone("cluster.local", records, 30, lambda: ["10.0.0.10"], lambda _rows: None)
