"""Bindings as a resource of their own."""
