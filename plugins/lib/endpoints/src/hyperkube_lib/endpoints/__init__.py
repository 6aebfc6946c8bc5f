"""What the three controllers of endpoints share: the pods behind a service, slices of one manager, trigger times."""

from hyperkube_lib.endpoints.endpoint_pods import EndpointPod, EndpointPods, selector_of
from hyperkube_lib.endpoints.limits import check_endpoints, check_syncs
from hyperkube_lib.endpoints.managed_slices import MANAGED_BY, SERVICE_NAME, ManagedSlices
from hyperkube_lib.endpoints.service_pods import (
    HEADLESS,
    address_of,
    addresses_of,
    common_ports_of,
    has_address,
    hostname_of,
    is_headless,
    is_managed,
    port_number,
    ports_of,
    publishes_not_ready,
    target_of,
    watch_services,
    what_counts,
)
from hyperkube_lib.endpoints.sync_spacing import SPACING_SECONDS, SyncSpacing
from hyperkube_lib.endpoints.trigger_time_tracker import LAST_CHANGE_TRIGGER_TIME, TriggerTimeTracker, with_trigger_time

__all__ = [
    "HEADLESS",
    "LAST_CHANGE_TRIGGER_TIME",
    "MANAGED_BY",
    "SERVICE_NAME",
    "SPACING_SECONDS",
    "EndpointPod",
    "EndpointPods",
    "ManagedSlices",
    "SyncSpacing",
    "TriggerTimeTracker",
    "address_of",
    "addresses_of",
    "check_endpoints",
    "check_syncs",
    "common_ports_of",
    "has_address",
    "hostname_of",
    "is_headless",
    "is_managed",
    "port_number",
    "ports_of",
    "publishes_not_ready",
    "selector_of",
    "target_of",
    "watch_services",
    "what_counts",
    "with_trigger_time",
]
