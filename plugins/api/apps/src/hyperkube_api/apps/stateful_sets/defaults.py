"""Defaults of StatefulSets; in place and idempotent.

Source: kubernetes pkg/apis/apps/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube_api.apps.workloads import section
from hyperkube_api.core.persistent_volume_claims.defaults import default_persistent_volume_claim
from hyperkube_api.core.pod_specs.defaults import default_template
from hyperkube_api.meta.defaults import set_defaults

from hyperkube.machinery.objects import Object


def default_stateful_set(stateful_set: Object) -> None:
    """Fill in a stateful set and its claim templates."""
    spec = stateful_set["spec"]
    if not spec.get("podManagementPolicy"):
        spec["podManagementPolicy"] = "OrderedReady"
    strategy = section(spec, "updateStrategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        section(strategy, "rollingUpdate")
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        set_defaults(strategy["rollingUpdate"], partition=0)
    retention = section(spec, "persistentVolumeClaimRetentionPolicy")
    for member in ("whenDeleted", "whenScaled"):
        if not retention.get(member):
            retention[member] = "Retain"
    set_defaults(spec, replicas=1, revisionHistoryLimit=10)
    default_template(spec.get("template"))
    for claim in spec.get("volumeClaimTemplates") or ():
        claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
        default_persistent_volume_claim(claim)
