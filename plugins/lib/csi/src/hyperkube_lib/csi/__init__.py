"""CSI 1.x: how a driver is called, what a volume is called there, and a driver in memory.

`client` and `schema` stand apart: they import gRPC, which costs nothing where there is no driver.
Source of messages and rules: github.com/container-storage-interface/spec ``spec.md``.
"""

from hyperkube_lib.csi.calls import CONTROLLER, IDENTITY, NODE, CsiCalls, CsiFailed, read_capabilities
from hyperkube_lib.csi.capabilities import access_mode, volume_capability
from hyperkube_lib.csi.memory_driver import MemoryDriver

__all__ = [
    "CONTROLLER",
    "IDENTITY",
    "NODE",
    "CsiCalls",
    "CsiFailed",
    "MemoryDriver",
    "access_mode",
    "read_capabilities",
    "volume_capability",
]
