"""What all servers begin with: logging, feature gates, the defaults of an older release, and what is logged at start.

Source of the name and of the division: kubernetes ``staging/src/k8s.io/component-base``.
"""
