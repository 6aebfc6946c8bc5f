"""discovery.k8s.io/v1beta1: endpoint slices, with the topology of an endpoint as one map.

Source: kubernetes v1.24 pkg/apis/discovery/v1beta1/conversion.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hyperkube_api.discovery.resources import DiscoveryApi
from hyperkube_api.meta.older_versions import Differences, Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

_V1BETA1 = OlderVersion(
    version=Version("discovery.k8s.io", "v1beta1", "hyperkube_api.legacy_cluster.schemas.discovery_v1beta1"),
    lifecycle=Lifecycle(21, 25, "discovery.k8s.io/v1"),
)
_ZONE, _HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def newer_endpoint(endpoint: Object) -> Object:
    """Return an endpoint whose zone and node are members."""
    if "topology" not in endpoint:
        return endpoint
    kept = {name: value for name, value in endpoint.items() if name != "topology"}
    left = dict(endpoint["topology"] or {})
    zone, host = left.pop(_ZONE, None), left.pop(_HOST, None)
    if zone is not None:
        kept["zone"] = zone
    if host is not None:
        kept.setdefault("nodeName", host)
    return {**kept, "deprecatedTopology": left} if left else kept


def older_endpoint(endpoint: Object) -> Object:
    """Return an endpoint whose zone and node are in its topology."""
    kept = {name: value for name, value in endpoint.items() if name not in {"zone", "deprecatedTopology"}}
    topology = dict(endpoint.get("deprecatedTopology") or {})
    if endpoint.get("zone") is not None:
        topology[_ZONE] = endpoint["zone"]
    if endpoint.get("nodeName") is not None:
        topology[_HOST] = endpoint["nodeName"]
    return {**kept, "topology": topology} if topology else kept


def _each(shift: Callable[[Object], Object]) -> Callable[[Object], Object]:
    def shifted(piece: Object) -> Object:
        endpoints = piece.get("endpoints")
        return {**piece, "endpoints": [shift(endpoint) for endpoint in endpoints]} if endpoints else piece

    return shifted


class LegacyDiscoveryApi(Plugin):
    """discovery.k8s.io/v1beta1: endpoint slices, with the topology of an endpoint as one map."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve discovery.k8s.io/v1beta1 where it is asked for."""
        differences = Differences(newer=_each(newer_endpoint), older=_each(older_endpoint))
        slices = _V1BETA1.resource(newest_resources(DiscoveryApi, self.context)["endpointslices"], differences)
        return [_V1BETA1.group_version([slices], group_priority=16_200, version_priority=12)]
