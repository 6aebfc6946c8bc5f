"""Formats of text that several rooms read: YAML, and PEM."""
