"""API group scheduling: PriorityClasses and pod groups."""
