"""Audit: who did what, when, and what came of it, as a policy wants it and where a backend keeps it."""
