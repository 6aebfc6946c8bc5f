"""Defaults of endpoints.

Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_Endpoints).
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def default_endpoints(endpoints: Object) -> None:
    """Fill in the protocol of endpoint ports."""
    for subset in endpoints.get("subsets") or ():
        for port in subset.get("ports") or ():
            if not port.get("protocol"):
                port["protocol"] = "TCP"
