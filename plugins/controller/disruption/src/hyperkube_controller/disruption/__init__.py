"""disruption: how many of its pods a PodDisruptionBudget lets go just now."""

from hyperkube_controller.disruption.controller import Disruption

__all__ = ["Disruption"]
