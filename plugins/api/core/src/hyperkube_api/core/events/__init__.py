"""Events, those of core/v1 and of events.k8s.io."""
