"""What the scheduler counts and times; upstream's ``pkg/scheduler/metrics``."""
