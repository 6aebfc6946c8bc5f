"""What is allowed and yet unwise: texts for the client's Warning header.

Source: kubernetes pkg/api/{pod,node,service,storage,persistentvolume,persistentvolumeclaim} and the strategies in
pkg/registry that have words of their own.
"""

from hyperkube_api.core.warnings.addresses import cidr_warnings, ip_warnings
from hyperkube_api.core.warnings.claims import (
    claim_object_warnings,
    claim_template_warnings,
    claim_warnings,
    persistent_volume_warnings,
)
from hyperkube_api.core.warnings.configuration import secret_warnings, service_account_warnings
from hyperkube_api.core.warnings.node_labels import DEPRECATED_LABELS, label_selector_warnings
from hyperkube_api.core.warnings.nodes import node_warnings
from hyperkube_api.core.warnings.pods import (
    app_armor_warning,
    pod_warnings,
    template_warnings,
    workload_name_warnings,
)
from hyperkube_api.core.warnings.services import endpoints_warnings, service_warnings

__all__ = [
    "DEPRECATED_LABELS",
    "app_armor_warning",
    "cidr_warnings",
    "claim_object_warnings",
    "claim_template_warnings",
    "claim_warnings",
    "endpoints_warnings",
    "ip_warnings",
    "label_selector_warnings",
    "node_warnings",
    "persistent_volume_warnings",
    "pod_warnings",
    "secret_warnings",
    "service_account_warnings",
    "service_warnings",
    "template_warnings",
    "workload_name_warnings",
]
