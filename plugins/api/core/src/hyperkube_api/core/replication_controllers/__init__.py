"""Replication controllers."""
