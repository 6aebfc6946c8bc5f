"""Pods that wait to be scheduled; upstream's ``pkg/scheduler/backend/queue``."""
