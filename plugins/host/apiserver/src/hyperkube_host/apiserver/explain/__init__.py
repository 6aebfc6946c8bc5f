"""Explanations kept in memory: what admission plugins changed, and what was refused by whom."""
