"""Graceful node shutdown: pods end in order before the machine does."""
