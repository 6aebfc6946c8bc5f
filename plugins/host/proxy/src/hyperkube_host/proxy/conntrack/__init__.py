"""Connection tracking: stale entries of UDP, and the kernel's limits and timeouts."""
