"""NodeDeclaredFeatureValidator: a running pod is only changed in ways that its node's kubelet says it can follow.

Works where the feature gate NodeDeclaredFeatures is on. Nodes are read when a change needs one, which is seldom: to
follow them all would cost each of their changes. Source: kubernetes
``plugin/pkg/admission/nodedeclaredfeatures/admission.go``, component-helpers ``nodedeclaredfeatures/features``.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import spec_of
from hyperkube.kinds.qos import GUARANTEED, qos_class
from hyperkube.kinds.resource_lists import read
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity
from hyperkube.plugin import Plugin, PluginContext

_GATE = "NodeDeclaredFeatures"


def _cpu(container: Object) -> Quantity:
    return read((container.get("resources") or {}).get("requests")).get("cpu", Quantity(0))


def _resizes_guaranteed_cpu(old: Object, new: Object) -> bool:
    if qos_class(old) != GUARANTEED:
        return False
    before, after = spec_of(old).get("containers") or (), spec_of(new).get("containers") or ()
    return any(_cpu(one) != _cpu(other) for one, other in zip(before, after, strict=False))


def _resizes_the_pod(old: Object, new: Object) -> bool:
    return (spec_of(old).get("resources") or {}) != (spec_of(new).get("resources") or {})


FEATURES: dict[str, Callable[[Object, Object], bool]] = {
    "GuaranteedQoSPodCPUResize": _resizes_guaranteed_cpu,
    "InPlacePodLevelResourcesVerticalScaling": _resizes_the_pod,
}
"""Feature → whether the change from one pod to another needs it."""


class NodeDeclaredFeatureValidator(Plugin):
    """Refuses changes of a pod that need what its node does not declare."""

    may_block = False
    handles = frozenset({"pods", "pods/resize"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._on = context.gates.get(_GATE, False)
        self.decided_by = ()

    def repeats(self, request: AdmissionRequest) -> bool:
        """Tell that nothing is done to any new pod."""
        return True

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Compare what a change needs with what the node declares."""
        if not self._on or not (request.updates("pods") or request.updates("pods", subresource="resize")):
            return
        new, old = request.written(), request.old_object or {}
        name = str(spec_of(new).get("nodeName") or "")
        if not name or spec_of(old) == spec_of(new):
            return
        wanted = [feature for feature, needs in sorted(FEATURES.items()) if needs(old, new)]
        if not wanted:
            return
        try:
            node = self.client.get(NODES, name)
        except NotFound as error:
            raise Forbidden(f'node "{name}" not found') from error
        declared = (node.get("status") or {}).get("declaredFeatures") or ()
        missing = [feature for feature in wanted if feature not in declared]
        if missing:
            text = f'pod update requires features {", ".join(missing)} which are not available on node "{name}"'
            raise Forbidden(text)
