"""PodGroupProtection: a group is not removed under its pods.

A finalizer holds it back; the controller podgroup-protection takes it off when no pod of the group runs any more. Works
where the feature gate GenericWorkload is on. Source: kubernetes ``plugin/pkg/admission/podgroupprotection``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resources import POD_GROUPS
from hyperkube.plugin import Plugin, PluginContext

FINALIZER = "scheduling.k8s.io/podgroup-protection"
_GATE = "GenericWorkload"


class PodGroupProtection(Plugin):
    """Adds the finalizer on create."""

    may_block = False
    handles = frozenset({"podgroups"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._on = context.gates.get(_GATE, False)

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Add the finalizer unless the group has it."""
        if not self._on or not request.creates("podgroups", POD_GROUPS.group):
            return
        metadata = request.written().setdefault("metadata", {})
        finalizers = list(metadata.get("finalizers") or ())
        if FINALIZER not in finalizers:
            metadata["finalizers"] = [*finalizers, FINALIZER]
