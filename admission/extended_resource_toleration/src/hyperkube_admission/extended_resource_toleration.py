"""ExtendedResourceToleration: a pod that asks for a device may go where that device keeps others off.

Nodes with rare devices are tainted with the device's name; a pod that asks for the device tolerates the taint.
Source: kubernetes ``plugin/pkg/admission/extendedresourcetoleration``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.resource_lists import is_extended
from hyperkube.kinds.taints import NO_SCHEDULE
from hyperkube.plugin import Plugin


class ExtendedResourceToleration(Plugin):
    """Adds a toleration for each extended resource that a pod asks for."""

    may_block = False
    handles = frozenset({"pods"})

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Add what is missing, by name."""
        if not request.writes("pods"):
            return
        spec = spec_of(request.written())
        asked = {
            name
            for container in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
            for name in (container.get("resources") or {}).get("requests") or {}
            if is_extended(name)
        }
        wanted = [{"key": name, "operator": "Exists", "effect": NO_SCHEDULE} for name in sorted(asked)]
        given = list(spec.get("tolerations") or ())
        missing = [toleration for toleration in wanted if toleration not in given]
        if missing:
            spec["tolerations"] = given + missing
