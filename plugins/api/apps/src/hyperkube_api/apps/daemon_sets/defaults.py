"""Defaults of DaemonSets; in place and idempotent.

Source: kubernetes pkg/apis/apps/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube_api.apps.workloads import section
from hyperkube_api.core.pod_specs.defaults import default_template
from hyperkube_api.meta.defaults import set_defaults

from hyperkube.machinery.objects import Object


def default_daemon_set(daemon_set: Object) -> None:
    """Fill in a daemon set."""
    spec = daemon_set["spec"]
    set_defaults(spec, revisionHistoryLimit=10)
    strategy = section(spec, "updateStrategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        set_defaults(section(strategy, "rollingUpdate"), maxUnavailable=1, maxSurge=0)
    default_template(spec.get("template"))
