"""The host of controller plugins: which ones run, as whom, and when."""

from hyperkube.controllers.manager import ControllerManager

__all__ = ["ControllerManager"]
