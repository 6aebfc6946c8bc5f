"""What the scheduler knows of nodes and placed pods, as arrays; upstream's ``pkg/scheduler/backend/cache``."""
