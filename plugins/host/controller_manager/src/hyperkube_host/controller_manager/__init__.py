"""kube-controller-manager: which controllers run, as whom, and when."""

from hyperkube_host.controller_manager.manager import MANAGER

__all__ = ["MANAGER"]
