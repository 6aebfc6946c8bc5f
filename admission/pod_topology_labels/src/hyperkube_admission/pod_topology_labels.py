"""PodTopologyLabels: a bound pod carries the zone and region of its node, so that it can read them about itself.

Labels are set on the binding, from where they reach the pod, or on a pod that is created with its node.
Source: kubernetes ``plugin/pkg/admission/podtopologylabels``.
"""

from __future__ import annotations

from hyperkube.client.informer import cached_or_live
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import Object, labels_of, metadata
from hyperkube.plugin import Plugin, PluginContext

_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_KEPT = ("name", "uid", "resourceVersion")


def project(node: Object) -> Object:
    """Keep of a node what is copied: all of it is several kilobytes, most of them names of images."""
    meta, labels = metadata(node), labels_of(node)
    kept: Object = {name: meta[name] for name in _KEPT if name in meta}
    if found := {name: labels[name] for name in _LABELS if name in labels}:
        kept["labels"] = found
    return {"metadata": kept}


class PodTopologyLabels(Plugin):
    """Copies the topology labels of the node."""

    may_block = False
    handles = frozenset({"pods", "pods/binding", "bindings"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._nodes = self.informers.informer(NODES, project=project)
        self.decided_by = ()

    def repeats(self, request: AdmissionRequest) -> bool:
        """Tell whether there was no node to look at: nodes change all the time."""
        return request.operation != "CREATE" or not spec_of(request.written()).get("nodeName")

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Set the labels on bindings and on pods that come with a node."""
        if not self.context.gates.get("PodTopologyLabelsAdmission", True):
            return
        if request.creates("pods"):
            self._label(request.written(), spec_of(request.written()).get("nodeName", ""))
        elif request.creates("pods", subresource="binding") or request.creates("bindings"):
            target = request.written().get("target") or {}
            if target.get("kind") in {"Node", "", None}:
                self._label(request.written(), target.get("name", ""))

    def _label(self, obj: Object, node_name: str) -> None:
        if not node_name:
            return
        try:
            node = cached_or_live(self._nodes, self.client, node_name)
        except NotFound:
            return
        found = {name: labels_of(node)[name] for name in _LABELS if name in labels_of(node)}
        if found:
            meta = obj.setdefault("metadata", {})
            meta["labels"] = {**(meta.get("labels") or {}), **found}
