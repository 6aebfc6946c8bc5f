"""Pods."""
