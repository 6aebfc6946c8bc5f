"""RequiredLabels: pods say what an operator wants to know of each of them.

Which labels these are is a flag, ``--required-labels=team,cost-center``, or the table ``admission.RequiredLabels`` of
the file of ``--plugin-config``. Pods of young namespaces may do without, so that a team can begin. With the feature
gate RequiredLabelsOfJobs jobs need the labels, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.hookspecs.base import PluginContext
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.objects import labels_of
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

GATE = "RequiredLabelsOfJobs"


@dataclass(frozen=True)
class Settings:
    """What the flags, or the settings table, say.

    Attributes:
        required_labels: the names of the labels.
        grace_period: the age of a namespace, in seconds, up to which its pods may do without.
        hint: added to a refusal; only the settings table has it.
    """

    required_labels: tuple[str, ...] = field(default=())
    grace_period: float = 0.0
    hint: str = ""


class RequiredLabels(Plugin):
    """Refuses a written pod, or job, without the required labels."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._settings = self.settings(Settings)
        self._namespaces = self.informers.informer(NAMESPACES)
        self._kinds = [("pods", ""), ("jobs", "batch")] if context.gates.get(GATE) else [("pods", "")]

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Look at created and updated pods, and jobs, only."""
        if not any(request.writes(*kind) for kind in self._kinds):
            return
        labels = labels_of(request.written())
        missing = [name for name in self._settings.required_labels if not labels.get(name)]
        if missing and not self._is_young(request.namespace):
            hint = f" ({self._settings.hint})" if self._settings.hint else ""
            raise Forbidden(f"labels are missing: {', '.join(missing)}{hint}")

    def _is_young(self, namespace: str) -> bool:
        found = self._namespaces.get("", namespace)
        if found is None:
            return False
        age = self.context.clock.now() - parse_time(found["metadata"]["creationTimestamp"])
        return age.total_seconds() < self._settings.grace_period
