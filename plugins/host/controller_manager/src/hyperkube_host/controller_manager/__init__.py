"""The host of controller plugins: which ones run, as whom, and when."""

from hyperkube_host.controller_manager.manager import ControllerManager

__all__ = ["ControllerManager"]
