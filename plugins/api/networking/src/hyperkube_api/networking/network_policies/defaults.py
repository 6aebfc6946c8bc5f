"""Defaults of NetworkPolicies; in place and idempotent.

Source: kubernetes pkg/apis/networking/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def default_network_policy(policy: Object) -> None:
    """Fill in a network policy: TCP, and the directions that it has rules for."""
    spec = policy["spec"]
    for direction in ("ingress", "egress"):
        for rule in spec.get(direction) or ():
            for port in rule.get("ports") or ():
                if port.get("protocol") is None:
                    port["protocol"] = "TCP"
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
