"""nodelifecycle: a node that falls silent is marked, kept free of new pods, and emptied when its pods want that."""

from hyperkube_controller.nodelifecycle.controller import Nodelifecycle

__all__ = ["Nodelifecycle"]
