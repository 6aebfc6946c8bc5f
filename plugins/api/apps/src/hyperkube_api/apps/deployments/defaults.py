"""Defaults of Deployments; in place and idempotent.

Source: kubernetes pkg/apis/apps/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube_api.apps.workloads import section
from hyperkube_api.core.pod_specs.defaults import default_template
from hyperkube_api.meta.defaults import set_defaults

from hyperkube.machinery.objects import Object


def default_deployment(deployment: Object) -> None:
    """Fill in a deployment."""
    spec = deployment["spec"]
    set_defaults(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600)
    strategy = section(spec, "strategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        set_defaults(section(strategy, "rollingUpdate"), maxUnavailable="25%", maxSurge="25%")
    default_template(spec.get("template"))
