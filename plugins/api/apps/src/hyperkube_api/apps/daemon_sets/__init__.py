"""DaemonSets: one pod on every matching node."""
