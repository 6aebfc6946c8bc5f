"""The release of Kubernetes whose behaviour this one has: the same answer from every server and node."""

MAJOR, MINOR = 1, 36
GIT_VERSION = f"v{MAJOR}.{MINOR}.2"
"""What ``/version``, ``--version`` and a node's status say."""
SHORT = f"{MAJOR}.{MINOR}"
"""What the user agents of a node's probes and hooks say."""
