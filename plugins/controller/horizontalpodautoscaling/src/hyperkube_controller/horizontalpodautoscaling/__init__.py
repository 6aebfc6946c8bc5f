"""horizontalpodautoscaling: as many replicas as the pods' use of resources asks for."""

from hyperkube_controller.horizontalpodautoscaling.controller import Horizontalpodautoscaling

__all__ = ["Horizontalpodautoscaling"]
