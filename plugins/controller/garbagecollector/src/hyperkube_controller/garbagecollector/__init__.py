"""garbagecollector: what belongs to a deleted owner is deleted too, or set free, as the deletion asked."""

from hyperkube_controller.garbagecollector.controller import Garbagecollector

__all__ = ["Garbagecollector"]
