"""cronjob: makes a job from a template each time a schedule says so."""

from hyperkube_controller.cronjob.controller import Cronjob

__all__ = ["Cronjob"]
