"""What servers that run controllers share: kube-controller-manager and cloud-controller-manager.

A server describes itself as a `ManagerSpec`; `command` turns it into a command line, and `ControllerManager` runs the
controllers of its family.
"""

from hyperkube_lib.controller_manager.manager import ControllerManager
from hyperkube_lib.controller_manager.options import ManagerOptions, ManagerSpec

__all__ = ["ControllerManager", "ManagerOptions", "ManagerSpec"]
