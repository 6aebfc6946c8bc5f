"""Persistent volumes."""
