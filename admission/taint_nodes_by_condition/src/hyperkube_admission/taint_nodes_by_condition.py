"""TaintNodesByCondition: a new node takes no pods before it is ready.

The node controller lifts the taint when the kubelet reports readiness; set here, no pod can slip in before.
Source: kubernetes ``plugin/pkg/admission/nodetaint``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.taints import NO_SCHEDULE, NOT_READY
from hyperkube.plugin import Plugin

_TAINT = {"key": NOT_READY, "effect": NO_SCHEDULE}


class TaintNodesByCondition(Plugin):
    """Taints nodes as they are created."""

    may_block = False
    handles = frozenset({"nodes"})

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Add the taint unless the node has it."""
        if not request.creates("nodes"):
            return
        spec = request.written().setdefault("spec", {})
        taints = list(spec.get("taints") or ())
        if not any(taint.get("key") == NOT_READY and taint.get("effect") == NO_SCHEDULE for taint in taints):
            spec["taints"] = [*taints, dict(_TAINT)]
