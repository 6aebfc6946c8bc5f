"""daemonset: one pod of a template on every node that fits."""

from hyperkube_controller.daemonset.controller import Daemonset

__all__ = ["Daemonset"]
