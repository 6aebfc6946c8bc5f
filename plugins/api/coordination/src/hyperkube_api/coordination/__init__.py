"""API group coordination: Leases."""
