"""Limit ranges."""
