"""Removed versions of who may do what, and of what others add to the API."""
