"""Removed versions of what runs and is reached: extensions, apps, batch, autoscaling, policy, networking."""
