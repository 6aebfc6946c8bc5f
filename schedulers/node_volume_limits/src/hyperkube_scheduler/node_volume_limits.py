"""NodeVolumeLimits: a node's CSI drivers can attach so many volumes and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.claims import CHANGES, Claims
from hyperkube_lib.scheduling.csi_migration import MIGRATED, handle_of, of_provisioner, of_volume

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo
from hyperkube.kinds.volumes import claim_names
from hyperkube.machinery.objects import Object, namespace_of

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import Mask

REASON = "node(s) exceed max volume count"
SCALING = "VolumeLimitScaling"
"""The gate by which nodes without a pod's driver are refused, for drivers that ask for that."""

Attached = dict[str, set[str]]
"""Driver → handles of the volumes that it attaches; in the tree's name where a driver may not have taken over."""


class NodeVolumeLimits(FilterPlugin):
    """Counts each driver's distinct volumes on a node against the limit in its CSINode.

    Disks of the clouds, in the pod or behind a claim, count for the drivers that took them over.
    Source: kubernetes ``pkg/scheduler/framework/plugins/nodevolumelimits/csi.go``.
    """

    events_to_register = CHANGES | {"node", "pod gone"}
    skips_by_template = True
    _claims: Claims | None = None

    def connect(self, wake: Callable[[str], None]) -> None:
        """Look claims up in the shared caches."""
        if self.context.informers is not None:
            self._claims = Claims(self.context.informers, wake)

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod has neither a claim nor a disk that a driver attaches."""
        return not claim_names(pod.pod) and not any(of_volume(volume) for volume in _volumes(pod.pod))

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes whose drivers have room for the pod's volumes that are not there yet."""
        refused, known = np.zeros(len(nodes), dtype=bool), self._claims
        if known is None:
            return Filtered(~refused)
        why = known.unusable(pod.pod)
        if why:
            return Filtered(refused, {why: ~refused}, ~refused)
        wanted = _attached([pod.pod], known)
        if not wanted:
            return Filtered(~refused)
        attached = _still_attached(known)
        watched = self._watched(wanted, known)
        reasons: dict[str, Mask] = {}
        for index in range(len(nodes)):
            csi_node = known.csi_node(nodes.names[index])
            limits, new = _limits(csi_node), _here(wanted, csi_node)
            absent = sorted(watched & new.keys() - _installed(csi_node))
            if absent:
                text = f"{absent[0]} CSI driver is not installed on the node"
                reasons.setdefault(text, np.zeros_like(refused))[index] = True
            elif new.keys() & limits.keys():
                there = _here(_attached(nodes.pods(index), known), csi_node)
                if _is_full(new, there, attached.get(nodes.names[index], {}), limits):
                    reasons.setdefault(REASON, np.zeros_like(refused))[index] = True
        for mask in reasons.values():
            refused |= mask
        return Filtered(~refused, reasons)

    def _watched(self, wanted: Attached, known: Claims) -> set[str]:
        """Return those of the drivers without which a node is no use, by their own word."""
        if not (self.context is not None and self.context.gates.get(SCALING)):
            return set()
        drivers = {each: known.csi_driver(each) for each in wanted}
        return {name for name, each in drivers.items() if each and each["spec"].get("preventPodSchedulingIfMissing")}


def _volumes(pod: Object) -> list[Object]:
    return list(pod.get("spec", {}).get("volumes") or ())


def _attached(pods: Iterable[Object], known: Claims) -> Attached:
    attached: Attached = {}
    for pod in pods:
        found = [_behind(namespace_of(pod), name, known) for name, _ in claim_names(pod)]
        found += [_in_tree(volume, handle_of(volume)) for volume in _volumes(pod)]
        for driver, handle in found:
            if driver and handle:
                attached.setdefault(driver, set()).add(handle)
    return attached


def _behind(namespace: str, name: str, known: Claims) -> tuple[str, str]:
    """Return what attaches a claim's volume, and as what; one that is still to be made counts by its claim."""
    claim = known.claim(namespace, name)
    if claim is None:
        return "", ""
    volume = known.volume(claim["spec"].get("volumeName") or "")
    if volume is not None:
        csi = volume["spec"].get("csi")
        return (
            (csi["driver"], csi["volumeHandle"]) if csi else _in_tree(volume["spec"], handle_of(volume["spec"], volume))
        )
    found = known.storage_class(claim)
    if found is None:
        return "", ""
    moved = of_provisioner(found["provisioner"])
    driver = found["provisioner"] if moved is None else moved.driver if moved.always else moved.plugin
    return driver, f"claim {namespace}/{name}"


def _in_tree(volume: Object, handle: str) -> tuple[str, str]:
    found = of_volume(volume)
    if found is None:
        return "", ""
    return (found.driver if found.always else found.plugin), handle


def _here(attached: Attached, csi_node: Object | None) -> Attached:
    """Count for a node's drivers what they took over there, and leave out what they did not."""
    here = dict(attached)
    for each in MIGRATED:
        handles = here.pop(each.plugin, None)
        if handles and each.is_on(csi_node):
            here[each.driver] = here.get(each.driver, set()) | handles
    return here


def _is_full(new: Attached, there: Attached, attached: Attached, limits: dict[str, int]) -> bool:
    """Tell whether a driver has no room for what is new: `there` is what pods have, `attached` may outlive them.

    What is attached but in no pod's use counts beside what is new, even if it is the same volume, as upstream has it.
    """
    for driver, handles in new.items():
        held = there.get(driver, set())
        more = len(handles - held)
        if more and driver in limits and len(held | attached.get(driver, set())) + more > limits[driver]:
            return True
    return False


def _still_attached(known: Claims) -> dict[str, Attached]:
    """Return by node what is attached there, also for pods that are gone from it by now."""
    found: dict[str, Attached] = {}
    for row in known.attachments():
        spec = row["spec"]
        name = (spec.get("source") or {}).get("persistentVolumeName")
        volume = known.volume(name) if name else None
        csi = volume["spec"].get("csi") if volume is not None else None
        if csi and spec.get("attacher"):
            found.setdefault(spec["nodeName"], {}).setdefault(spec["attacher"], set()).add(csi["volumeHandle"])
    return found


def _installed(csi_node: Object | None) -> set[str]:
    return {row["name"] for row in ((csi_node or {}).get("spec") or {}).get("drivers") or ()}


def _limits(csi_node: Object | None) -> dict[str, int]:
    drivers = ((csi_node or {}).get("spec") or {}).get("drivers") or ()
    counts = {row["name"]: (row.get("allocatable") or {}).get("count") for row in drivers}
    return {name: int(count) for name, count in counts.items() if count is not None}
