"""hyperkube: Kubernetes in Python, where every behaviour is a pip-installable plugin."""

__version__ = "0.1.0"
