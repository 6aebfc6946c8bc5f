"""Removed versions of what the cluster keeps for itself: leases, endpoint slices, priorities, storage."""
