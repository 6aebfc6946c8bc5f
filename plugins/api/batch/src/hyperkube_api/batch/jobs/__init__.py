"""Jobs: pods that run to their end."""
