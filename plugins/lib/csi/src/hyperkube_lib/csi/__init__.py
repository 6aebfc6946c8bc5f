"""CSI 1.x: how a driver is called, what a volume is called there, and drivers in Python.

`client`, `server` and `schema` stand apart: they import gRPC, which costs nothing where there is no driver. So does
`memory_driver`, which is for tests.
Source of messages and rules: github.com/container-storage-interface/spec ``spec.md``.
"""

from hyperkube_lib.csi.calls import CONTROLLER, IDENTITY, NODE, CsiCalls, CsiFailed, read_capabilities, refused
from hyperkube_lib.csi.capabilities import access_mode, volume_capability
from hyperkube_lib.csi.driver import CsiDriver
from hyperkube_lib.csi.installed import installed_drivers

__all__ = [
    "CONTROLLER",
    "IDENTITY",
    "NODE",
    "CsiCalls",
    "CsiDriver",
    "CsiFailed",
    "access_mode",
    "installed_drivers",
    "read_capabilities",
    "refused",
    "volume_capability",
]
