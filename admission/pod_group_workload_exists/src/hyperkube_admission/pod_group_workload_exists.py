"""PodGroupWorkloadExists: a group of pods that says which template it was made from says the truth.

Works where the feature gate GenericWorkload is on.
Source: kubernetes ``plugin/pkg/admission/podgroup/admission.go``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin, PluginContext

POD_GROUPS = GroupVersionResource("scheduling.k8s.io", "v1alpha2", "podgroups")
WORKLOADS = GroupVersionResource("scheduling.k8s.io", "v1alpha2", "workloads")
_GATE = "GenericWorkload"


class PodGroupWorkloadExists(Plugin):
    """Refuses a new PodGroup whose workload, or whose template in it, does not exist."""

    may_block = False
    handles = frozenset({"podgroups"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._on = context.gates.get(_GATE, False)

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Look the workload up."""
        if not self._on or not request.creates("podgroups", POD_GROUPS.group):
            return
        template = (request.written().get("spec") or {}).get("podGroupTemplateRef") or {}
        reference = template.get("workload")
        if reference is None:
            return
        name, wanted = str(reference.get("workloadName") or ""), str(reference.get("podGroupTemplateName") or "")
        known = [entry.get("name") for entry in self._templates(name, request.namespace)]
        if wanted not in known:
            raise Forbidden(f'PodGroup rejected: PodGroupTemplate "{wanted}" not found in Workload "{name}"')

    def _templates(self, name: str, namespace: str) -> list[Object]:
        try:
            workload = self.client.get(WORKLOADS, name, namespace)
        except NotFound as error:
            raise Forbidden(f'PodGroup rejected: Workload "{name}" not found') from error
        return (workload.get("spec") or {}).get("podGroupTemplates") or []
