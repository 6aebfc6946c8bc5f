"""cloud-controller-manager: the controllers that talk to a cloud, in a process of their own."""

from hyperkube_host.cloud_controller_manager.manager import MANAGER

__all__ = ["MANAGER"]
