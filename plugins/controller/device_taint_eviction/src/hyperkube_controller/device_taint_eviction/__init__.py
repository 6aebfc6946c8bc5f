"""device-taint-eviction: deletes pods whose devices have a NoExecute taint that their claims do not tolerate."""

from hyperkube_controller.device_taint_eviction.controller import GATE, DeviceTaintEviction
from hyperkube_controller.device_taint_eviction.rules import RULES_GATE

__all__ = ["GATE", "RULES_GATE", "DeviceTaintEviction"]
