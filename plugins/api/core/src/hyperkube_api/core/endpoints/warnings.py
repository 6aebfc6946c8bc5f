"""Warnings for endpoints.

Source: kubernetes pkg/registry/core/endpoint/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.core.ip_warnings import ip_warnings

from hyperkube.machinery.field import ROOT
from hyperkube.machinery.objects import Object, labels_of

_MANAGED_BY = "endpoints.kubernetes.io/managed-by"
_CONTROLLER = "endpoint-controller"


def endpoints_warnings(endpoints: Object) -> list[str]:
    """Return the warnings for the addresses of endpoints, unless the controller wrote them."""
    if labels_of(endpoints).get(_MANAGED_BY) == _CONTROLLER:
        return []
    found: list[str] = []
    for index, subset in enumerate(endpoints.get("subsets") or ()):
        for member in ("addresses", "notReadyAddresses"):
            at = ROOT.child("subsets").index(index).child(member)
            for number, address in enumerate(subset.get(member) or ()):
                found += ip_warnings(at.index(number).child("ip"), address.get("ip") or "")
    return found
