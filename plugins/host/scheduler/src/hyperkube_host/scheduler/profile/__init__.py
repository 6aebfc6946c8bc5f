"""The profiles in use by scheduler name; upstream's ``pkg/scheduler/profile``."""
