"""The scheduler's configuration: files, 1.x policies, flags; upstream's ``pkg/scheduler/apis/config``."""
