"""resourceclaim: claims for pods that ask by template, and an end to reservations of pods that need none any more."""

from hyperkube_controller.resourceclaim.controller import Resourceclaim

__all__ = ["Resourceclaim"]
