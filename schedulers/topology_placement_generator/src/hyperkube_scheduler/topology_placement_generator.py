"""TopologyPlacementGenerator: pods that talk to each other all day belong into one rack, zone or block.

A PodGroup may name a label of nodes (``spec.schedulingConstraints.topology[].key``). The group is then tried in each
domain of that label: the nodes that have the same value. Where some of its pods run already, only their domain is left.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube.hookspecs.pod_groups import NoPlacement, Placement, PlacementGeneratePlugin, PodGroupInfo
from hyperkube.hookspecs.scheduling import NodeTable
from hyperkube.machinery.objects import Object


class TopologyPlacementGenerator(PlacementGeneratePlugin):
    """Names a placement for each domain of the group's topology key.

    Source: kubernetes ``pkg/scheduler/framework/plugins/topologyaware/topology_placement.go`` (1.36).
    """

    def generate_placements(self, group: PodGroupInfo, nodes: NodeTable, parent: Placement) -> Sequence[Placement]:
        """Return the domains within `parent`, in the order of their values; `parent` for a group without constraints.

        Raises:
            NoPlacement: the group's pods run in several domains, or where there is none.
        """
        key = topology_key(group.group)
        if not key:
            return [parent]
        only = _scheduled_domain(key, group, nodes)
        codes, values = nodes.label_codes(key)
        found = []
        for code, value in sorted(enumerate(values), key=lambda row: str(row[1])):
            mask = parent.nodes & (codes == code)
            if mask.any() and only in {None, value}:
                found.append(Placement(str(value), mask))
        return found


def topology_key(group: Object) -> str:
    """Return the label that a group's pods must agree on; the API takes one constraint at most."""
    constraints = (group.get("spec") or {}).get("schedulingConstraints") or {}
    topology = constraints.get("topology") or ()
    return str(topology[0].get("key", "")) if topology else ""


def _scheduled_domain(key: str, group: PodGroupInfo, nodes: NodeTable) -> str | None:
    """Return where the group's placed pods are, None if there are none."""
    labels = nodes.label(key) if group.placed else ()
    columns = {name: index for index, name in enumerate(nodes.names)} if group.placed else {}
    domain: str | None = None
    for pod, node in sorted(group.placed.items()):
        if node not in columns:
            raise _unknown(f'getting node for pod {pod}: nodeinfo not found for node name "{node}"')
        value = labels[columns[node]]
        if value is None:
            raise _unknown(f"no topology domain found for pod {pod}")
        if domain is not None and domain != value:
            raise _unknown(f"more than 1 domain found for pod group: {domain}, {value}")
        domain = value
    return domain


def _unknown(why: str) -> NoPlacement:
    return NoPlacement(f"cannot determine domain for already scheduled pods: {why}")
