"""API group internal: StorageVersions."""
