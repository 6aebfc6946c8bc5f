"""API group meta: the metadata, options and Status that all API groups share."""
