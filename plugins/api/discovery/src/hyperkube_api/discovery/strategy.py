"""Endpoint slices: what happens when one is created, changed or deleted.

Source: kubernetes pkg/registry/discovery/endpointslice.
"""

from __future__ import annotations

from hyperkube_api.core.ip_warnings import ip_warnings
from hyperkube_api.discovery.defaults import default_endpoint_slice
from hyperkube_api.discovery.validation import validate_endpoint_slice
from hyperkube_api.meta.loopback import KnownEndpoints, loopback_rule, target_of
from hyperkube_api.meta.validation import unchanged

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import ROOT, FieldError
from hyperkube.machinery.objects import Object, labels_of

SERVICE_NAME = "kubernetes.io/service-name"
HEADLESS = "service.kubernetes.io/headless"


_HOSTNAME = "kubernetes.io/hostname"
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_CONTROLLERS = frozenset({"endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"})


class EndpointSliceStrategy(Strategy):
    """A part of the addresses behind a service."""

    metadata_checks = ("object",)
    generation = True

    def default(self, obj: Object) -> None:
        """Fill in the ports."""
        default_endpoint_slice(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Drop the deprecated topology."""
        _drop_topology(call, obj, frozenset())

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Drop the deprecated topology where endpoints changed.

        Changes of the labels are counted, too: proxies find the slices of a service by them.
        """
        if obj.get("endpoints") != old.get("endpoints"):
            _drop_topology(call, obj, _nodes_in_topology(old))
        if (obj["metadata"].get("labels") or {}) != (old["metadata"].get("labels") or {}):
            obj["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of addresses that are names, or not canonical in a slice of another author than the controllers."""
        is_new_name = old is None and obj.get("addressType") == "FQDN"
        named = ["spec.addressType: FQDN endpoints are deprecated"] if is_new_name else []
        if labels_of(obj).get(_MANAGED_BY) in _CONTROLLERS:
            return named
        at = ROOT.child("endpoints")
        return named + [
            text
            for index, endpoint in enumerate(obj.get("endpoints") or ())
            for number, address in enumerate(endpoint.get("addresses") or ())
            for text in ip_warnings(at.index(index).child("addresses").index(number), address)
        ]

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check addresses and ports."""
        return validate_endpoint_slice(obj, loopback=loopback_rule(call))

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check what changed as on creation, and that the kind of addresses stayed."""
        kept = unchanged(ROOT.child("addressType"), obj.get("addressType"), old.get("addressType"))
        return kept or validate_endpoint_slice(obj, old, loopback=loopback_rule(call, lambda: _known(old)))


def _nodes_in_topology(endpoint_slice: Object) -> frozenset[str]:
    """Return the nodes that endpoints name in their deprecated topology only."""
    topologies = (endpoint.get("deprecatedTopology") or {} for endpoint in endpoint_slice.get("endpoints") or ())
    return frozenset(topology[_HOSTNAME] for topology in topologies if _HOSTNAME in topology)


def _drop_topology(call: Call, endpoint_slice: Object, nodes: frozenset[str]) -> None:
    """Drop the deprecated topology of all endpoints; those whose node was one of `nodes` there keep it as their node.

    Clients of v1beta1 may still write it.
    """
    if call.resource.version == "v1beta1":
        return
    for endpoint in endpoint_slice.get("endpoints") or ():
        node = (endpoint.pop("deprecatedTopology", None) or {}).get(_HOSTNAME)
        if endpoint.get("nodeName") is None and node in nodes:
            endpoint["nodeName"] = node


def _known(endpoint_slice: Object) -> KnownEndpoints:
    return {
        target_of(endpoint, address)
        for endpoint in endpoint_slice.get("endpoints") or ()
        for address in endpoint.get("addresses") or ()
    }
