"""Defaults of core objects that a declaration cannot express; all in place and idempotent."""
