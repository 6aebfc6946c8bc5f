"""Service accounts and their tokens."""
