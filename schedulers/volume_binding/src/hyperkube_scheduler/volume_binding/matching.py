"""Which volumes a claim can have, and from which nodes they can be reached.

Source: kubernetes ``staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go`` (FindMatchingVolume) and
``pkg/scheduler/framework/plugins/volumebinding/binder.go`` (tryTranslatePVToCSI).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.claims import Claims
from hyperkube_lib.scheduling.csi_migration import moved_terms, of_volume
from hyperkube_lib.scheduling.node_selectors import any_term

from hyperkube.hookspecs.scheduling import NodeTable
from hyperkube.kinds.node_selectors import matches_any_term
from hyperkube.kinds.volumes import class_name
from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import Object, is_being_deleted, labels_of, name_of, namespace_of, uid_of
from hyperkube.machinery.quantity import parse

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import Mask


def size_of(obj: Object) -> int:
    """Return a volume's capacity or what a claim requests, in bytes; 0 if it says nothing."""
    spec = obj["spec"]
    amounts = spec.get("capacity") or (spec.get("resources") or {}).get("requests") or {}
    return parse(str(amounts.get("storage", "0"))).value()


def is_meant_for(volume: Object, claim: Object) -> bool:
    """Tell whether a volume already names a claim as its own."""
    meant = volume["spec"].get("claimRef")
    if meant is None or (meant.get("namespace"), meant.get("name")) != (namespace_of(claim), name_of(claim)):
        return False
    return not meant.get("uid") or meant["uid"] == uid_of(claim)


def fits_claim(volume: Object, claim: Object) -> bool:
    """Tell whether a volume is what a claim asks for: class, size, modes, selector; or it is meant for it."""
    spec, wanted = volume["spec"], claim["spec"]
    if is_being_deleted(volume) or size_of(volume) < size_of(claim) or class_name(volume) != class_name(claim):
        return False
    if (spec.get("volumeAttributesClassName") or "") != (wanted.get("volumeAttributesClassName") or ""):
        return False
    if spec.get("volumeMode", "Filesystem") != wanted.get("volumeMode", "Filesystem"):
        return False
    if spec.get("claimRef") is not None:
        return is_meant_for(volume, claim)
    if (volume.get("status") or {}).get("phase", "Available") != "Available":
        return False
    if not set(wanted.get("accessModes") or ()) <= set(spec.get("accessModes") or ()):
        return False
    selector = wanted.get("selector")
    return selector is None or from_label_selector(selector).matches(labels_of(volume))


def candidates(claim: Object, volumes: Iterable[Object]) -> list[Object]:
    """Return the volumes that a claim can have, the smallest first; one that is meant for it leaves it no choice."""
    fitting = sorted((volume for volume in volumes if fits_claim(volume, claim)), key=size_of)
    meant = [volume for volume in fitting if is_meant_for(volume, claim)]
    return meant[:1] or fitting


def reachable(volume: Object, nodes: NodeTable) -> Mask:
    """Return the nodes that a volume's own node affinity allows."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    if required is None:
        return np.ones(len(nodes), dtype=bool)
    return any_term(required.get("nodeSelectorTerms") or (), nodes)


def reachable_by_driver(volume: Object, nodes: NodeTable, known: Claims) -> Mask:
    """Return the same for a bound volume; where a CSI driver took over its kind, the driver's zones count."""
    mask, moved = reachable(volume, nodes), of_volume(volume["spec"])
    if moved is None or not moved.topology:
        return mask
    terms = moved_terms(volume)
    by_driver = any_term(terms, nodes) if terms else np.ones(len(nodes), dtype=bool)
    listed = np.array([moved.is_listed(known.csi_node(name)) for name in nodes.names], dtype=bool)
    return np.where(listed, by_driver, mask)


def is_reachable_from(volume: Object, node: str, labels: Mapping[str, str], csi_node: Object | None) -> bool:
    """Tell the same of one node, by its name and labels."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    terms = required.get("nodeSelectorTerms") or [] if required is not None else None
    moved = of_volume(volume["spec"])
    if moved is not None and moved.topology and moved.is_listed(csi_node):
        terms = moved_terms(volume) or None
    return terms is None or matches_any_term(terms, node, labels)
