"""PodResizeValidator: a pod that is resized in place must still fit the node it is on.

A request larger than all that the node has could never be granted; the kubelet would put it off for ever.
Nodes are read when a pod is resized, which is seldom: to follow them all would cost each of their changes.
Source: kubernetes ``plugin/pkg/admission/podresize/admission.go``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import pod_requests, spec_of
from hyperkube.kinds.resource_lists import read
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.machinery.objects import Object, labels_of, name_of
from hyperkube.machinery.quantity import MILLI, Quantity
from hyperkube.plugin import Plugin, PluginContext

_GATE = "InPlacePodVerticalScaling"
_OS = "kubernetes.io/os"
_NONE = Quantity(0)


def misfit(pod: Object, node: Object) -> str:
    """Return why a pod does not fit a node's allocatable cpu and memory, or the empty string."""
    allocatable = read((node.get("status") or {}).get("allocatable"))
    requested = pod_requests(pod)
    texts = []
    for name, scale in (("cpu", MILLI), ("memory", 0)):
        wanted, there = (amounts.get(name, _NONE).scaled_value(scale) for amounts in (requested, allocatable))
        if wanted > there:
            texts.append(f"{name}, requested: {wanted}, allocatable: {there}")
    return f"Node didn't have enough allocatable resources: {'; '.join(texts)}" if texts else ""


class PodResizeValidator(Plugin):
    """Refuses a resize beyond the node, or on a node that is not Linux."""

    may_block = False
    handles = frozenset({"pods/resize"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._on = context.gates.get(_GATE, True)

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Compare what is asked for with what the pod's node has."""
        if not self._on or not request.updates("pods", subresource="resize"):
            return
        pod = request.written()
        spec = spec_of(pod)
        node_name = str(spec.get("nodeName") or "")
        if not node_name or spec == spec_of(request.old_object or {}):
            return
        try:
            node = self.client.get(NODES, node_name)
        except NotFound as error:
            raise Forbidden(f'node "{node_name}" not found') from error
        text = misfit(pod, node)
        if text:
            raise Forbidden(text)
        system = labels_of(node).get(_OS, "")
        if system != "linux":
            raise Forbidden(f'pod resize is only supported on linux nodes, node "{name_of(node)}" is "{system}"')
