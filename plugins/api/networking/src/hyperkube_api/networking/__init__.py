"""API group networking: Ingresses, NetworkPolicies and ServiceCIDRs."""
