"""The scheduling cycle of one pod; upstream's ``pkg/scheduler/schedule_one.go``."""
