"""Defaults of workloads that a declaration cannot express; in place and idempotent.

Source: kubernetes pkg/apis/apps/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube_api.core.defaults.objects import default_persistent_volume_claim
from hyperkube_api.core.defaults.pod_specs import default_template

from hyperkube.machinery.objects import Object


def _set(holder: Object, **values: object) -> None:
    """Set members that are absent."""
    for name, value in values.items():
        if holder.get(name) is None:
            holder[name] = value


def _section(holder: Object, name: str) -> Object:
    """Return a member that is an object, made if absent."""
    section: Object = holder.get(name) or {}
    holder[name] = section
    return section


def default_deployment(deployment: Object) -> None:
    """Fill in a deployment."""
    spec = deployment["spec"]
    _set(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy = _section(spec, "strategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        _set(_section(strategy, "rollingUpdate"), maxUnavailable="25%", maxSurge="25%")
    default_template(spec.get("template"))


def default_replica_set(replica_set: Object) -> None:
    """Fill in a replica set."""
    spec = replica_set["spec"]
    _set(spec, replicas=1)
    default_template(spec.get("template"))


def default_daemon_set(daemon_set: Object) -> None:
    """Fill in a daemon set."""
    spec = daemon_set["spec"]
    _set(spec, revisionHistoryLimit=10)
    strategy = _section(spec, "updateStrategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        _set(_section(strategy, "rollingUpdate"), maxUnavailable=1, maxSurge=0)
    default_template(spec.get("template"))


def default_stateful_set(stateful_set: Object) -> None:
    """Fill in a stateful set and its claim templates."""
    spec = stateful_set["spec"]
    if not spec.get("podManagementPolicy"):
        spec["podManagementPolicy"] = "OrderedReady"
    strategy = _section(spec, "updateStrategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        _section(strategy, "rollingUpdate")
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        _set(strategy["rollingUpdate"], partition=0)
    retention = _section(spec, "persistentVolumeClaimRetentionPolicy")
    for member in ("whenDeleted", "whenScaled"):
        if not retention.get(member):
            retention[member] = "Retain"
    _set(spec, replicas=1, revisionHistoryLimit=10)
    default_template(spec.get("template"))
    for claim in spec.get("volumeClaimTemplates") or ():
        claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
        default_persistent_volume_claim(claim)
