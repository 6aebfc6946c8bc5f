"""The stores behind the resources: which backend, which forms of values, whether they answer."""
