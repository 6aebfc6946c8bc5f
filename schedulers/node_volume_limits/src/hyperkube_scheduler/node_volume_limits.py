"""NodeVolumeLimits: a node's CSI drivers can attach so many volumes and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from hyperkube_lib.scheduling.claims import CHANGES, Claims, claim_names

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo
from hyperkube.machinery.objects import Object, namespace_of, uid_of

REASON = "node(s) exceed max volume count"

Attached = dict[str, set[str]]
"""Driver → handles of the volumes that it attaches."""


class NodeVolumeLimits(FilterPlugin):
    """Counts each driver's distinct volumes on a node against the limit in its CSINode.

    Source: kubernetes ``pkg/scheduler/framework/plugins/nodevolumelimits/csi.go``.
    """

    wakes_on = CHANGES | {"node", "pod gone"}
    skips_by_template = True
    _claims: Claims | None = None

    def connect(self, wake: Callable[[str], None]) -> None:
        """Look claims up in the shared caches."""
        if self.context.informers is not None:
            self._claims = Claims(self.context.informers, wake)

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod has no claim."""
        return not claim_names(pod.pod)

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes whose drivers have room for the pod's volumes that are not there yet."""
        refused = np.zeros(len(nodes), dtype=bool)
        wanted, known = self._attached([pod.pod]), self._claims
        if known is None or not wanted:
            return Filtered(~refused)
        attached = self._still_attached(known)
        for index in range(len(nodes)):
            limits = _limits(known.csi_node(nodes.names[index]))
            if not wanted.keys() & limits.keys():
                continue
            there = self._attached(nodes.pods(index))
            for driver, handles in attached.get(nodes.names[index], {}).items():
                there[driver] = there.get(driver, set()) | handles
            refused[index] = any(
                len(there.get(driver, set()) | handles) > limits[driver] and handles - there.get(driver, set())
                for driver, handles in wanted.items()
                if driver in limits
            )
        return Filtered(~refused, {REASON: refused} if refused.any() else {})

    def _attached(self, pods: Iterable[Object]) -> Attached:
        attached: Attached = {}
        for pod in pods:
            names = claim_names(pod)
            for name, _ in names if self._claims is not None else ():
                found = self._driver_and_handle(namespace_of(pod), name)
                if found is not None:
                    attached.setdefault(found[0], set()).add(found[1])
        return attached

    def _still_attached(self, known: Claims) -> dict[str, Attached]:
        """Return by node what is attached there, also for pods that are gone from it by now."""
        found: dict[str, Attached] = {}
        for row in known.attachments():
            spec = row["spec"]
            name = (spec.get("source") or {}).get("persistentVolumeName")
            volume = known.volume(name) if name else None
            csi = volume["spec"].get("csi") if volume is not None else None
            if csi and csi["driver"] == spec.get("attacher"):
                found.setdefault(spec["nodeName"], {}).setdefault(csi["driver"], set()).add(csi["volumeHandle"])
        return found

    def _driver_and_handle(self, namespace: str, name: str) -> tuple[str, str] | None:
        """Return what attaches a claim's volume; one that is still to be made counts by its claim."""
        claim = self._claims.claim(namespace, name) if self._claims is not None else None
        if claim is None or self._claims is None:
            return None
        volume = self._claims.volume(claim["spec"].get("volumeName") or "")
        if volume is not None:
            csi = volume["spec"].get("csi")
            return (csi["driver"], csi["volumeHandle"]) if csi else None
        found = self._claims.storage_class(claim)
        return (found["provisioner"], f"{found['provisioner']}-{uid_of(claim)}") if found is not None else None


def _limits(csi_node: Object | None) -> dict[str, int]:
    drivers = ((csi_node or {}).get("spec") or {}).get("drivers") or ()
    counts = {row["name"]: (row.get("allocatable") or {}).get("count") for row in drivers}
    return {name: int(count) for name, count in counts.items() if count is not None}
