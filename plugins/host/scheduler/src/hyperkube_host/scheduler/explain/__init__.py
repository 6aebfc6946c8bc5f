"""The latest decisions, kept for explanations."""
