"""The bundle: which plugins are on, and in which order; data only (see plugins.toml)."""
