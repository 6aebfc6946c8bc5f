"""nodelifecycle: a node that falls silent is marked and tainted."""

from hyperkube_controller.nodelifecycle.controller import Nodelifecycle

__all__ = ["Nodelifecycle"]
