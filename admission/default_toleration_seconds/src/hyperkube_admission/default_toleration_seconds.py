"""DefaultTolerationSeconds: a pod bears a lost node for a while, then moves on.

Without a toleration a pod would be evicted the moment its node is called unreachable; with one that never ends it
would wait for ever. Pods that say nothing get five minutes.
Source: kubernetes ``plugin/pkg/admission/defaulttolerationseconds``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.taints import NO_EXECUTE, NOT_READY, UNREACHABLE
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext


class Settings(Record):
    """How many seconds a pod bears a lost node."""

    default_not_ready_toleration_seconds: int = 300
    default_unreachable_toleration_seconds: int = 300


class DefaultTolerationSeconds(Plugin):
    """Adds tolerations for nodes that are not ready and for unreachable ones, where the pod has none."""

    may_block = False
    handles = frozenset({"pods"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = self.settings(Settings)
        self._seconds = {
            NOT_READY: settings.default_not_ready_toleration_seconds,
            UNREACHABLE: settings.default_unreachable_toleration_seconds,
        }
        self.decided_by = ()

    def repeats(self, request: AdmissionRequest) -> bool:
        """Tell that a pod of the same template gets the same."""
        return True

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Add what is missing."""
        if not request.writes("pods"):
            return
        spec = request.written().setdefault("spec", {})
        tolerations = list(spec.get("tolerations") or ())
        missing = [
            key
            for key in self._seconds
            if not any(
                toleration.get("key") in {None, "", key} and toleration.get("effect") in {None, "", NO_EXECUTE}
                for toleration in tolerations
            )
        ]
        if missing:
            spec["tolerations"] = tolerations + [
                {"key": key, "operator": "Exists", "effect": NO_EXECUTE, "tolerationSeconds": self._seconds[key]}
                for key in missing
            ]
