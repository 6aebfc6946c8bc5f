"""How a pod gets its volumes on each node: claims to join with volumes that are there, and claims to be provisioned.

Source: kubernetes ``pkg/scheduler/framework/plugins/volumebinding/binder.go`` (FindPodVolumes and what it calls).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.claims import Claims
from hyperkube_lib.scheduling.node_selectors import any_term
from hyperkube_scheduler.volume_binding.matching import candidates, reachable, size_of

from hyperkube.hookspecs.scheduling import NodeTable
from hyperkube.kinds.volumes import class_name
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import NodeName, Object, annotations_of, labels_of, name_of
from hyperkube.machinery.quantity import parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperkube.hookspecs.scheduling import Mask

SELECTED_NODE = "volume.kubernetes.io/selected-node"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
UNTOLD = -1
"""In place of an amount: the driver says nothing about its room."""


@dataclass(slots=True)
class Plan:
    """What is to be done for a pod on a node.

    Attributes:
        joined: claims and the volumes that they get.
        provisioned: claims whose volumes are to be made there.
        capacities: for each provisioned claim, how much the driver says it can make there, in bytes; or `UNTOLD`.
    """

    joined: list[tuple[Object, Object]] = field(default_factory=list)
    provisioned: list[Object] = field(default_factory=list)
    capacities: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Planned:
    """The plans by node, for the nodes where there is one; where none was found; and where there is no room."""

    by_node: Mapping[NodeName, Plan]
    found: Mask
    room: Mask


class Planner:
    """Plans for one pod and one table; what a class can make where is looked up once."""

    def __init__(self, known: Claims, nodes: NodeTable, is_free: Callable[[Object], bool]) -> None:
        """Take where to look things up, and what tells whether a volume is not held for another pod."""
        self._known = known
        self._nodes = nodes
        self._is_free = is_free
        self._makeable: dict[str, Mask] = {}

    def plan(self, claims: Sequence[Object]) -> Planned:
        """Plan all claims for each node; the smallest volume that is large enough is taken."""
        count = len(self._nodes)
        found, room = np.ones(count, dtype=bool), np.ones(count, dtype=bool)
        plans = [Plan() for _ in range(count)]
        chosen = [claim for claim in claims if SELECTED_NODE in annotations_of(claim)]
        for claim in chosen:
            found &= np.array([name == annotations_of(claim)[SELECTED_NODE] for name in self._nodes.names], dtype=bool)
        to_make: list[list[Object]] = [[*chosen] for _ in range(count)]
        for claim in sorted((claim for claim in claims if SELECTED_NODE not in annotations_of(claim)), key=size_of):
            self._join(claim, found, plans, to_make)
        makers = {name_of(claim): self._makers(claim) for claim in claims} if any(to_make) else {}
        for index in found.nonzero()[0].tolist():
            for claim in to_make[index]:
                makeable, roomy, amounts = makers[name_of(claim)]
                found[index], room[index] = makeable[index], roomy[index] or not makeable[index]
                if not (found[index] and room[index]):
                    break
                plans[index].provisioned.append(claim)
                plans[index].capacities.append(int(amounts[index]))
        names = self._nodes.names
        feasible = {names[index]: plans[index] for index in (found & room).nonzero()[0].tolist()}
        return Planned(feasible, found, room)

    def _join(self, claim: Object, found: Mask, plans: Sequence[Plan], to_make: Sequence[list[Object]]) -> None:
        free = candidates(claim, filter(self._is_free, self._known.volumes()))
        open_to = [(volume, reachable(volume, self._nodes)) for volume in free]
        for index in found.nonzero()[0].tolist():
            used = {name_of(volume) for _, volume in plans[index].joined}
            taken = next((each for each, mask in open_to if mask[index] and name_of(each) not in used), None)
            if taken is not None:
                plans[index].joined.append((claim, taken))
            else:
                to_make[index].append(claim)

    def _makers(self, claim: Object) -> tuple[Mask, Mask, NDArray[np.int64]]:
        """Return where a claim's volume can be made, where there is room for it, and how much room is told of."""
        name = class_name(claim)
        if name not in self._makeable:
            self._makeable[name] = self._where_made(claim)
        roomy, amounts = self._rooms(claim)
        return self._makeable[name], roomy, amounts

    def _where_made(self, claim: Object) -> Mask:
        found = self._known.storage_class(claim)
        everywhere = np.ones(len(self._nodes), dtype=bool)
        if found is None or found.get("provisioner") in {None, "", NO_PROVISIONER}:
            return ~everywhere
        terms = [
            {
                "matchExpressions": [
                    {"key": row["key"], "operator": "In", "values": row["values"]}
                    for row in each.get("matchLabelExpressions") or ()
                ]
            }
            for each in found.get("allowedTopologies") or ()
        ]
        return any_term(terms, self._nodes) if terms else everywhere

    def _rooms(self, claim: Object) -> tuple[Mask, NDArray[np.int64]]:
        """Return where the claim's driver says it has room; drivers that say nothing have."""
        count = len(self._nodes)
        amounts = np.full(count, UNTOLD, dtype=np.int64)
        storage_class = self._known.storage_class(claim)
        driver = self._known.csi_driver(str((storage_class or {}).get("provisioner") or ""))
        asks = "storage" in ((claim["spec"].get("resources") or {}).get("requests") or {})
        if storage_class is None or driver is None or not driver["spec"].get("storageCapacity") or not asks:
            return np.ones(count, dtype=bool), amounts
        size, roomy = size_of(claim), np.zeros(count, dtype=bool)
        for row in self._known.capacities():
            limit = row.get("maximumVolumeSize") or row.get("capacity")
            if row.get("storageClassName") != name_of(storage_class) or row.get("nodeTopology") is None:
                continue
            if limit is not None and parse(str(limit)).value() >= size:
                selector = from_label_selector(row["nodeTopology"])
                here = np.array([selector.matches(labels_of(self._nodes.node(at))) for at in range(count)], dtype=bool)
                amounts[here & ~roomy] = parse(str(row.get("capacity") or "0")).value()
                roomy |= here
        return roomy, amounts
