"""A pod on its way to a node: what plugins need, computed once per template."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from hyperkube.machinery.objects import Object, key_of, labels_of, namespace_of
from hyperkube.scheduler.requests import Requests, requests_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hyperkube.scheduler.node_table import Nodes

_SCHEDULING_FIELDS = (
    "affinity", "nodeName", "nodeSelector", "overhead", "priority", "resources", "schedulerName", "tolerations",
    "topologySpreadConstraints",
)  # fmt: skip
_CONTAINER_FIELDS = ("image", "name", "ports", "resources", "restartPolicy")
TEMPLATES = 1024
"""Templates whose requests are remembered."""


@dataclass(slots=True)
class QueuedPod:
    """A pod with its requests; implements `hyperkube.hookspecs.node_table.PodInfo`."""

    pod: Object
    key: str
    template_key: str
    priority: int
    demand: Requests
    requests: NDArray[np.int64]
    non_zero_requests: NDArray[np.int64]
    state: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, pod: Object, table: Nodes, templates: Templates | None = None) -> QueuedPod:
        """Prepare a pod; a resource that no node has yet gets its row in the table."""
        import numpy as np

        key = template_key(pod)
        demand = requests_of(pod) if templates is None else templates.requests(key, pod)
        table.know(demand.amounts)
        vector = np.array([[demand.amounts.get(name, 0)] for name in table.resources], dtype=np.int64)
        non_zero = np.array([[demand.non_zero_cpu], [demand.non_zero_memory]], dtype=np.int64)
        return cls(pod, key_of(pod), key, priority_of(pod), demand, vector, non_zero)


class Templates:
    """What the pods of the latest templates request: reading quantities costs more than all the rest."""

    def __init__(self) -> None:
        self._requests: OrderedDict[str, Requests] = OrderedDict()

    def requests(self, key: str, pod: Object) -> Requests:
        """Return what a pod of that template requests."""
        known = self._requests.get(key)
        if known is None:
            known = self._requests[key] = requests_of(pod)
            if len(self._requests) > TEMPLATES:
                self._requests.popitem(last=False)
        return known


def priority_of(pod: Object) -> int:
    """Return ``spec.priority``, 0 where there is none."""
    return int(pod.get("spec", {}).get("priority") or 0)


def template_key(pod: Object) -> str:
    """Return a text that is equal for pods that no scheduling plugin of a narrow scope can tell apart."""
    spec = pod.get("spec", {})
    parts: list[object] = [namespace_of(pod), labels_of(pod), {name: spec.get(name) for name in _SCHEDULING_FIELDS}]
    owners = pod.get("metadata", {}).get("ownerReferences") or ()
    parts += [owner.get("uid") for owner in owners if owner.get("controller")]
    for group in ("initContainers", "containers"):
        parts += [{name: row.get(name) for name in _CONTAINER_FIELDS} for row in spec.get(group) or ()]
        parts.append(group)
    parts.append([volume for volume in spec.get("volumes") or () if "projected" not in volume])
    return orjson.dumps(parts, option=orjson.OPT_SORT_KEYS).decode()
