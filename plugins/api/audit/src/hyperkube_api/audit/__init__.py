"""API group audit: audit events and policies."""
