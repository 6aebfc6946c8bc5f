"""From a decision to a bound pod; upstream's binding cycle in ``pkg/scheduler/schedule_one.go``."""
