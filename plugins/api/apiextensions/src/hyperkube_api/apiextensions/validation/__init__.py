"""Validation of custom resource definitions."""
