"""What a control plane brings along: system objects, identity Leases, the endpoints of the kubernetes Service."""
