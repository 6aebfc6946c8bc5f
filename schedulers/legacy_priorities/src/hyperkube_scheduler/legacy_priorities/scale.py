"""The scale of 1.x."""

BEST = 10
"""What the best node gets; kubernetes 1.15 ``pkg/scheduler/api/types.go`` (MaxPriority)."""
