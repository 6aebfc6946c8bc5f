"""Component statuses."""
