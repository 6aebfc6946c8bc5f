"""The scheduling cycle of a pod group; upstream's ``pkg/scheduler/schedule_one_podgroup.go``."""
