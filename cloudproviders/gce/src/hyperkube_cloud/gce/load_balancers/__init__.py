"""Balancers for Services: external ones of target pools, or internal ones of backend services.

Source: cloud-provider-gcp ``providers/gce/gce_loadbalancer.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hyperkube_cloud.gce.cluster_id import ClusterId
from hyperkube_cloud.gce.compute import Compute
from hyperkube_cloud.gce.load_balancers.annotations import (
    INTERNAL,
    INTERNAL_FINALIZER,
    left_to_others,
    scheme_of,
)
from hyperkube_cloud.gce.load_balancers.external import ExternalBalancers
from hyperkube_cloud.gce.load_balancers.internal import InternalBalancers
from hyperkube_cloud.gce.location import Location
from hyperkube_lib.cloud_provider.rest import Json
from hyperkube_lib.cloud_provider.services import balancer_name, protocol_of, status_of

from hyperkube.hookspecs.cloud import ImplementedElsewhere
from hyperkube.machinery.objects import Object, has_finalizer


class GceLoadBalancers:
    """Implements `hyperkube.hookspecs.cloud.LoadBalancers`, `UpdatesHosts` and `NamesBalancers`."""

    def __init__(
        self,
        compute: Compute,
        location: Location,
        cluster_id: ClusterId,
        external: ExternalBalancers,
        internal: InternalBalancers,
        release: Callable[[Object], None],
    ) -> None:
        """Take both kinds of balancers, and what takes the finalizer off that Google's own controller puts on."""
        self._compute, self._location, self._cluster_id = compute, location, cluster_id
        self._external, self._internal, self._release = external, internal, release

    def name(self, cluster: str, service: Object) -> str:
        """Return the name of a Service's balancer."""
        return balancer_name(service)

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the balancer's status, None if there is none; an empty one if a deletion was cut short."""
        rule = self._rule(service)
        if rule is not None:
            return status_of(str(rule.get("IPAddress") or ""))
        return {} if has_finalizer(service, INTERNAL_FINALIZER) else None

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Make the balancer as the Service wants it, and return its status."""
        scheme = scheme_of(service)
        protocol_of(service)
        rule = self._rule(service)
        if reason := left_to_others(service, rule):
            raise ImplementedElsewhere(reason)
        cluster_id = self._cluster_id.get()
        if rule is not None and (rule.get("loadBalancingScheme") == INTERNAL) != (scheme == INTERNAL):
            self._balancers(rule.get("loadBalancingScheme")).ensure_deleted(service, cluster_id)
            rule = None
        status = self._balancers(scheme).ensure(service, rule, nodes, cluster_id)
        self._release(service)
        return status

    def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Send the balancer's traffic to these nodes."""
        if reason := left_to_others(service, self._rule(service)):
            raise ImplementedElsewhere(reason)
        if scheme_of(service) == INTERNAL:
            self._internal.update(service, nodes, self._cluster_id.get())
        else:
            self._external.update(service, nodes)

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Delete the balancer with all that was made for it."""
        rule = self._rule(service)
        if left_to_others(service, rule):
            return
        held = rule.get("loadBalancingScheme") if rule is not None else scheme_of(service)
        self._balancers(held).ensure_deleted(service, self._cluster_id.get())
        self._release(service)

    def _balancers(self, scheme: object) -> ExternalBalancers | InternalBalancers:
        return self._internal if scheme == INTERNAL else self._external

    def _rule(self, service: Object) -> Json | None:
        return self._compute.find(f"regions/{self._location.region}/forwardingRules/{balancer_name(service)}")
