"""statefulset: pods with lasting names and volumes, started in order and stopped in the opposite one."""

from hyperkube_controller.statefulset.controller import Statefulset

__all__ = ["Statefulset"]
