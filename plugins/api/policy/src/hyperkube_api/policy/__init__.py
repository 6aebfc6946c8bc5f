"""API group policy: PodDisruptionBudgets and evictions."""
