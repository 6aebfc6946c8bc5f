"""A pod on its way to a node: what plugins need, computed once per template."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from hyperkube.kinds.pods import priority_of
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, key_of

if TYPE_CHECKING:
    import numpy as np
    from hyperkube_host.scheduler.cache.node_table import Nodes
    from hyperkube_host.scheduler.cache.requests import Requests
    from numpy.typing import NDArray

_SCHEDULING_FIELDS = (
    "affinity", "hostNetwork", "hostUsers", "nodeName", "nodeSelector", "overhead", "priority", "resourceClaims",
    "resources", "schedulerName", "tolerations", "topologySpreadConstraints",
)  # fmt: skip
_CONTAINER_FIELDS = ("image", "name", "ports", "resources", "restartPolicy", "restartPolicyRules")
TEMPLATES = 1024
"""Templates whose requests are remembered."""


@dataclass(slots=True)
class PreparedPod:
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
    def of(cls, pod: Object, table: Nodes, templates: Templates | None = None) -> PreparedPod:
        """Prepare a pod; a resource that no node has yet gets its row in the table."""
        key = template_key(pod)
        known = (templates or Templates()).prepared(key, pod, table)
        return cls(pod, key_of(pod), key, priority_of(pod), known.demand, known.requests, known.non_zero_requests)


class _Prepared(NamedTuple):
    demand: Requests
    resources: Sequence[str]
    requests: NDArray[np.int64]
    non_zero_requests: NDArray[np.int64]


class Templates:
    """What the pods of the latest templates request: reading quantities costs more than all the rest."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Prepared] = OrderedDict()

    def prepared(self, key: str, pod: Object, table: Nodes) -> _Prepared:
        """Return what a pod of that template requests, as numbers and as arrays over the table's resources."""
        from hyperkube_host.scheduler.cache.requests import requests_of

        known = self._known.get(key)
        if known is None or known.resources is not table.resources:
            known = self._known[key] = _prepare(requests_of(pod) if known is None else known.demand, table)
            if len(self._known) > TEMPLATES:
                self._known.popitem(last=False)
        return known


def _prepare(demand: Requests, table: Nodes) -> _Prepared:
    import numpy as np

    table.add_resources(demand.amounts)
    requests = np.array([[demand.amounts.get(name, 0)] for name in table.resources], dtype=np.int64)
    non_zero = np.array([[demand.non_zero_cpu], [demand.non_zero_memory]], dtype=np.int64)
    for shared in (requests, non_zero):
        shared.flags.writeable = False
    return _Prepared(demand, table.resources, requests, non_zero)


def template_key(pod: Object) -> str:
    """Return a text that is equal for pods that no scheduling plugin of a narrow scope can tell apart."""
    spec, meta = pod.get("spec", {}), pod.get("metadata", {})
    parts: list[object] = [meta.get("namespace"), meta.get("labels"), *map(spec.get, _SCHEDULING_FIELDS)]
    parts += [owner.get("uid") for owner in meta.get("ownerReferences") or () if owner.get("controller")]
    for group in ("initContainers", "containers"):
        for row in spec.get(group) or ():
            parts += map(row.get, _CONTAINER_FIELDS)
        parts.append(group)
    parts.append([volume for volume in spec.get("volumes") or () if "projected" not in volume])
    return orjson.dumps(parts, option=orjson.OPT_SORT_KEYS).decode()
