"""Where a volume must and should be reachable from: the topology requirement of CreateVolume.

Source: external-provisioner ``pkg/controller/topology.go`` (GenerateAccessibilityRequirements).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, labels_of, name_of

Segments = tuple[tuple[str, str], ...]
"""A place: label and value, sorted by label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a driver is.

    Attributes:
        driver: its name.
        csi_nodes: all CSINodes.
        nodes: all nodes.
    """

    driver: str
    csi_nodes: Sequence[Object]
    nodes: Sequence[Object]

    def keys_of(self, node_name: str) -> list[str]:
        """Return the labels by which the driver tells places apart, as it told on a node."""
        for csi_node in self.csi_nodes:
            if name_of(csi_node) == node_name:
                return _keys(csi_node, self.driver)
        return []

    def any_keys(self) -> list[str]:
        """Return the labels that some node with the driver has told of."""
        return next((keys for each in sorted(self.csi_nodes, key=name_of) if (keys := _keys(each, self.driver))), [])

    def all_segments(self, keys: Sequence[str]) -> list[Segments]:
        """Return the places of the nodes that have all of these labels."""
        return sorted({found for node in self.nodes if (found := segments_of(node, keys)) is not None})

    def segments(self) -> list[Segments]:
        """Return all places of the driver."""
        keys = self.any_keys()
        return self.all_segments(keys) if keys else []


def _keys(csi_node: Object, driver: str) -> list[str]:
    rows = (csi_node.get("spec") or {}).get("drivers") or ()
    return next((list(row.get("topologyKeys") or ()) for row in rows if row["name"] == driver), [])


def segments_of(node: Object, keys: Iterable[str]) -> Segments | None:
    """Return where a node is, None if it lacks one of the labels."""
    labels, wanted = labels_of(node), sorted(keys)
    return tuple((key, labels[key]) for key in wanted) if all(key in labels for key in wanted) else None


def flatten(allowed: Iterable[Object]) -> list[Segments]:
    """Return the places that the allowed topologies of a class mean: one per combination of their values."""
    found = []
    for term in allowed:
        rows = [[(row["key"], value) for value in row.get("values") or ()] for row in _expressions(term)]
        found += [tuple(sorted(each)) for each in itertools.product(*rows)] if rows else []
    return found


def _expressions(term: Object) -> list[Object]:
    return list(term.get("matchLabelExpressions") or ())


def requirement(places: Places, claim_name: str, allowed: Sequence[Object], node: Object | None) -> dict[str, Any]:
    """Return the ``TopologyRequirement``, empty if there is none.

    Args:
        places: where the driver is.
        claim_name: spreads the volumes of a stateful set.
        allowed: ``allowedTopologies`` of the class.
        node: the one that the claim's first pod will run on, if that is decided.

    Raises:
        VolumeFailed: the driver is not on the node, or on none.
    """
    selected: Segments | None = None
    keys = places.keys_of(name_of(node)) if node is not None else places.any_keys()
    if node is not None:
        if not keys:
            raise VolumeFailed(f"no topology key found for node {name_of(node)}")
        selected = segments_of(node, keys)
        if selected is None:
            labels = _shown(labels_of(node))
            text = f"topology labels from selected node {labels} does not match topology keys from CSINode {keys}"
            raise VolumeFailed(text)
    terms = flatten(allowed)
    if not terms:
        terms = places.all_segments(keys) if keys else []
        if not terms and not allowed:
            raise VolumeFailed("no available topology found")
    terms = sorted(set(terms))
    if not terms:
        return {}
    if selected is None:
        first = _offset(claim_name) % len(terms)
    else:
        matching = [index for index, term in enumerate(terms) if set(term) <= set(selected)]
        if not matching:
            where = f"topology {_shown(dict(selected))} from selected node {name_of(node or {})!r}"
            raise VolumeFailed(
                f"{where} is not in requisite: {[_shown(dict(term)) for term in terms]}".replace("'", '"')
            )
        first = matching[0]
    return {"requisite": _topologies(terms), "preferred": _topologies(terms[first:] + terms[:first])}


def _topologies(terms: Iterable[Segments]) -> list[dict[str, Any]]:
    return [{"segments": dict(term)} for term in terms]


def _shown(labels: Mapping[str, str]) -> str:
    return f"map[{' '.join(f'{key}:{value}' for key, value in sorted(labels.items()))}]"


def _offset(name: str) -> int:
    """Return a number for a claim: those of one stateful set, ``NAME-0``, ``NAME-1`` …, follow one another."""
    stem, dash, index = name.rpartition("-")
    if dash and index.isdecimal():
        return _fnv32(stem) + int(index)
    return _fnv32(name)


def _fnv32(text: str) -> int:
    """Return FNV-1a's 32-bit hash, with which upstream's spreading begins."""
    found = 0x811C9DC5
    for byte in text.encode():
        found = (found ^ byte) * 0x01000193 & 0xFFFFFFFF
    return found


def node_affinity(accessible: Iterable[Mapping[str, Any]]) -> Object | None:
    """Return the ``nodeAffinity`` of a volume that is reachable from these places; None for everywhere."""
    terms = [
        {"matchExpressions": [{"key": key, "operator": "In", "values": [value]} for key, value in sorted(rows.items())]}
        for place in accessible
        if (rows := place.get("segments") or {})
    ]
    return {"required": {"nodeSelectorTerms": terms}} if terms else None
