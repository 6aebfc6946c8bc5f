"""API group events: Events in the group events.k8s.io."""
