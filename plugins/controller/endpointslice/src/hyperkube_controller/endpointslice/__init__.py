"""endpointslice: the addresses behind each service, in slices of at most a hundred, so that a change stays small."""

from hyperkube_controller.endpointslice.controller import Endpointslice

__all__ = ["Endpointslice"]
