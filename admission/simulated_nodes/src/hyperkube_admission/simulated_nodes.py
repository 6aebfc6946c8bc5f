"""SimulatedNodes: where real and simulated nodes are mixed, each pod finds the nodes that can run it.

A real node of a local cluster runs one image only, the machine itself; a simulated one pretends to run any. Without a
rule the scheduler mixes them, and a rollout hangs at the pod whose image the real node refuses. So pods of that one
image keep away from simulated nodes, and all others ask for one. A DaemonSet is told in its template, from which its
controller computes the nodes it wants. A pod that names the label or the node is left as it is.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.pods import containers, spec_of
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext

LABEL = "hyperkube.dev/hollow"
"""The label of simulated nodes; its value there is ``true``."""


class Settings(Record):
    """The images that the real nodes run, without ``docker.io/library/`` and ``:latest``."""

    real_images: tuple[str, ...] = ("host",)


def short_name(image: str) -> str:
    """Return an image's reference without the parts that are added when they are left out."""
    return image.removeprefix("docker.io/library/").removesuffix(":latest")


def names_label(spec: Object) -> bool:
    """Tell whether a pod's spec says itself what it wants of the label, or of nodes by name."""
    node_affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or []
    expressions = [expression for term in terms for expression in term.get("matchExpressions") or []]
    asked = [expression.get("key") for expression in expressions]
    return bool(spec.get("nodeName")) or LABEL in (spec.get("nodeSelector") or {}) or LABEL in asked


def keep_away(spec: Object) -> None:
    """Let a pod's spec refuse simulated nodes, whatever else it requires of its node."""
    affinity = spec["affinity"] = dict(spec.get("affinity") or {})
    node = affinity["nodeAffinity"] = dict(affinity.get("nodeAffinity") or {})
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    rule = {"key": LABEL, "operator": "NotIn", "values": ["true"]}
    # A node must fulfil one of the terms, so each of them gets the rule.
    terms = (node.get(field) or {}).get("nodeSelectorTerms") or [{}]
    told = [{**term, "matchExpressions": [*(term.get("matchExpressions") or []), rule]} for term in terms]
    node[field] = {"nodeSelectorTerms": told}


class SimulatedNodes(Plugin):
    """Tells pods and templates of DaemonSets apart by their images."""

    may_block = False
    handles = frozenset({"pods", "daemonsets"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._real = frozenset(self.settings(Settings).real_images)

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Add what leads the pod to the right nodes."""
        if request.creates("pods"):
            self._lead(request.written())
        elif request.writes("daemonsets", "apps"):
            self._lead(spec_of(request.written()).get("template") or {})

    def _lead(self, pod: Object) -> None:
        spec = spec_of(pod)
        images = {short_name(container.get("image") or "") for container in containers(pod)}
        if not images or names_label(spec):
            return
        if images <= self._real:
            keep_away(spec)
        else:
            spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), LABEL: "true"}
