"""Calls to the API beside the scheduling loop; upstream's ``pkg/scheduler/backend/api_dispatcher``."""
