"""Health checks: one for all Services whose traffic any node takes, else one of the Service's own.

Those of target pools (``httpHealthChecks``) and of backend services (``healthChecks``) are different things with the
same settings. Settings that were made slower by hand stay.
Source: cloud-provider-gcp ``providers/gce/gce_loadbalancer_external.go`` (ensureHTTPHealthCheck),
``gce_loadbalancer_internal.go`` (ensureInternalHealthCheck), ``gce_loadbalancer_naming.go``.
"""

from __future__ import annotations

from typing import Final

from hyperkube_cloud.gce.compute import Compute
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import CHECK_PATH, NODES_CHECK_PORT, local_check_port, service_name

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

SETTINGS: Final = {"checkIntervalSec": 8, "timeoutSec": 1, "healthyThreshold": 1, "unhealthyThreshold": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A health check: `shared` by Services whose traffic any node takes."""

    name: str
    port: int
    shared: bool
    description: str


def described(text: str) -> str:
    """Return the description of what belongs to a Service."""
    return f'{{"kubernetes.io/service-name":"{text}"}}'


def nodes_check_name(cluster_id: str) -> str:
    """Return the name of the check that is shared."""
    return f"k8s-{cluster_id}-node"


def pool_check(service: Object, name: str, cluster_id: str) -> Check:
    """Return the check of a target pool."""
    port = local_check_port(service)
    called = name if port else nodes_check_name(cluster_id)
    return Check(name=called, port=port or NODES_CHECK_PORT, shared=not port, description=described(called))


def pool_check_firewall(check: str, *, shared: bool) -> str:
    """Return the name of the firewall that lets a target pool's check through."""
    return f"{check}-http-hc" if shared else f"k8s-{check}-http-hc"


def backend_check(service: Object, name: str, cluster_id: str) -> Check:
    """Return the check of a backend service."""
    port = local_check_port(service)
    return Check(
        name=name if port else nodes_check_name(cluster_id),
        port=port or NODES_CHECK_PORT,
        shared=not port,
        description=described(service_name(service)) if port else "",
    )


def merged(held: Json, wanted: Json) -> Json | None:
    """Return what a check is to become, None if it may stay as it is."""
    changed = any(held.get(key, "") != wanted[key] for key in ("description", "port", "requestPath") if key in wanted)
    if "httpHealthCheck" in wanted:
        http = held.get("httpHealthCheck") or {}
        changed |= any(http.get(key) != value for key, value in wanted["httpHealthCheck"].items())
    slower = {key: max(int(held.get(key) or 0), value) for key, value in SETTINGS.items()}
    if not changed and all(int(held.get(key) or 0) == value for key, value in slower.items()):
        return None
    return {**wanted, **slower}


class HealthChecks:
    """The checks of a cluster's balancers."""

    def __init__(self, compute: Compute) -> None:
        self._compute = compute

    def ensure_of_pool(self, check: Check) -> str:
        """Make a target pool's check, or change what differs; return its URL."""
        wanted = {"name": check.name, "port": check.port, "requestPath": CHECK_PATH, "description": check.description}
        return self._ensure("global/httpHealthChecks", {**wanted, **SETTINGS})

    def ensure_of_backend(self, check: Check) -> str:
        """Make a backend service's check, or change what differs; return its URL."""
        wanted: Json = {"name": check.name, "description": check.description, "type": "HTTP", **SETTINGS}
        wanted["httpHealthCheck"] = {"port": check.port, "requestPath": CHECK_PATH}
        return self._ensure("global/healthChecks", wanted)

    def _ensure(self, collection: str, wanted: Json) -> str:
        path = f"{collection}/{wanted['name']}"
        held = self._compute.find(path)
        if held is None:
            self._compute.insert(collection, wanted)
        elif (changed := merged(held, wanted)) is not None:
            self._compute.change("PUT", path, changed)
        return self._compute.url(path)
