"""persistentvolume-binder: brings claims and volumes together, makes volumes for claims, and ends released ones."""

from hyperkube_controller.persistentvolume_binder.controller import PersistentvolumeBinder

__all__ = ["PersistentvolumeBinder"]
