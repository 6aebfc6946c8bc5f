"""NetworkPolicies: which pods may talk to which."""
