"""``hyperkube why``: why a pod is pending or where it is, why a user may not do something, who changed an object."""
