"""SchedulingGates: a pod that carries gates is not ready to be scheduled; the controller that set them removes them."""

from __future__ import annotations

from hyperkube.hookspecs.scheduling import PreEnqueuePlugin
from hyperkube.machinery.objects import Object


class SchedulingGates(PreEnqueuePlugin):
    """Holds back pods with ``spec.schedulingGates``. Source: ``plugins/schedulinggates/scheduling_gates.go``."""

    events_to_register = frozenset()

    def pre_enqueue(self, pod: Object) -> str:
        """Return which gates the pod waits for, or the empty string."""
        gates = [gate["name"] for gate in pod.get("spec", {}).get("schedulingGates") or ()]
        return f"waiting for scheduling gates: [{' '.join(gates)}]" if gates else ""
