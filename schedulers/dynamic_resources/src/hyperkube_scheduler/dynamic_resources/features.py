"""Which of the newer abilities are on, and how long things may take: from feature gates and the plugin's settings.

Source of the defaults: kubernetes ``pkg/features/kube_features.go`` (1.36), kube-scheduler ``config/v1``
(DynamicResourcesArgs).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.durations import DurationError, parse_duration
from hyperkube.machinery.errors import UsageError

FILTER_SECONDS = 10.0
BINDING_SECONDS = 600.0
_KNOWN = {"filterTimeout", "bindingTimeout", "apiVersion", "kind"}


@dataclass(frozen=True, slots=True)
class Features:
    """What is on; all of it is, unless a gate says otherwise.

    Attributes:
        partitions: devices that take from shared counters, and say for themselves which nodes they are for.
        taints: devices with taints.
        binding: devices that are made ready once a node is chosen.
        capacity: devices that several claims share by capacity.
        extended: extended resources that stand for a device class.
        timeout: searching ends after a while.
        rules: DeviceTaintRules taint devices, too; the only one that is off unless asked for.
    """

    partitions: bool = True
    taints: bool = True
    binding: bool = True
    capacity: bool = True
    extended: bool = True
    timeout: bool = True
    rules: bool = False

    @classmethod
    def of(cls, gates: Mapping[str, bool]) -> Features:
        """Read the gates; one that is not there is as Kubernetes 1.36 has it: on."""
        return cls(
            partitions=gates.get("DRAPartitionableDevices", True),
            taints=gates.get("DRADeviceTaints", True),
            binding=gates.get("DRADeviceBindingConditions", True) and gates.get("DRAResourceClaimDeviceStatus", True),
            capacity=gates.get("DRAConsumableCapacity", True),
            extended=gates.get("DRAExtendedResource", True),
            timeout=gates.get("DRASchedulerFilterTimeout", True),
            rules=gates.get("DRADeviceTaints", True) and gates.get("DRADeviceTaintRules", False),
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: for one pod's search over all nodes (0: no limit), and for devices to get ready."""

    searching: float = FILTER_SECONDS
    binding: float = BINDING_SECONDS

    @classmethod
    def of(cls, settings: Mapping[str, Any], features: Features) -> Limits:
        """Read ``filterTimeout`` and ``bindingTimeout``.

        Raises:
            UsageError: an unknown setting, no duration, or one out of range.
        """
        unknown = sorted(set(settings) - _KNOWN)
        if unknown:
            raise UsageError(f"settings of plugin 'DynamicResources': unknown field {unknown[0]!r}")
        searching = _seconds(settings, "filterTimeout", FILTER_SECONDS)
        binding = _seconds(settings, "bindingTimeout", BINDING_SECONDS)
        if searching < 0:
            raise UsageError("filterTimeout: must be zero or positive")
        if binding < 1:
            raise UsageError("bindingTimeout: must be at least 1 second")
        return cls(searching if features.timeout else 0.0, binding)


def _seconds(settings: Mapping[str, Any], name: str, default: float) -> float:
    given = settings.get(name)
    if given is None:
        return default
    try:
        return parse_duration(str(given))
    except DurationError as error:
        raise UsageError(f"{name}: {error}") from error
