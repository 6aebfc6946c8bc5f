"""Validation of Jobs: the object, an update, the status, and the success policy."""
