"""Table rows of core objects, as kubectl prints them."""

from hyperkube_api.core.tables.events import event
from hyperkube_api.core.tables.nodes import node
from hyperkube_api.core.tables.others import (
    component_status,
    config_map,
    endpoints,
    limit_range,
    namespace,
    pod_template,
    replication_controller,
    resource_quota,
    secret,
    service_account,
)
from hyperkube_api.core.tables.pods import pod, pod_conditions
from hyperkube_api.core.tables.services import service
from hyperkube_api.core.tables.volumes import persistent_volume, persistent_volume_claim

__all__ = [
    "component_status",
    "config_map",
    "endpoints",
    "event",
    "limit_range",
    "namespace",
    "node",
    "persistent_volume",
    "persistent_volume_claim",
    "pod",
    "pod_conditions",
    "pod_template",
    "replication_controller",
    "resource_quota",
    "secret",
    "service",
    "service_account",
]
