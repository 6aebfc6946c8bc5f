"""API group authorization: access reviews."""
