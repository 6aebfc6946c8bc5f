"""The cloud provider that a plugin talks to, behind limits that spare the cloud."""

from hyperkube_lib.cloud_provider.circuit import Circuit, CircuitOpen
from hyperkube_lib.cloud_provider.provider import EXTERNAL, CloudProvider

__all__ = ["EXTERNAL", "Circuit", "CircuitOpen", "CloudProvider"]
