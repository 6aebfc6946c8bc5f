"""Validation of Jobs: the object, an update, the status, and the success policy.

A server needs the rules with the first Job, not to start.
"""
