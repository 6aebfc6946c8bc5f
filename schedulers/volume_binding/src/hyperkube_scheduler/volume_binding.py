"""VolumeBinding: a pod goes where its volumes are, or can be made; those that wait for a first user are bound now."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.claims import CHANGES, Claims, claim_names, class_name, is_bound
from hyperkube_lib.scheduling.node_selectors import any_term

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import (
    Filtered,
    FilterPlugin,
    NodeTable,
    PodInfo,
    PreBindPlugin,
    PreFiltered,
    ReservePlugin,
)
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import (
    NodeName,
    Object,
    annotations_of,
    is_being_deleted,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)  # fmt: skip
from hyperkube.machinery.quantity import parse

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import Mask

CONFLICT_REASON = "node(s) had volume node affinity conflict"
NO_VOLUME_REASON = "node(s) didn't find available persistent volumes to bind"
NO_SPACE_REASON = "node(s) did not have enough free storage"
NO_VOLUME_LEFT_REASON = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
IMMEDIATE_REASON = "pod has unbound immediate PersistentVolumeClaims"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
LATE = "WaitForFirstConsumer"
BIND_SECONDS = 600.0
POLL_SECONDS = 0.1


@dataclass(slots=True)
class Plan:
    """What is to be done for a pod on a node: claims to join with volumes, and claims to be provisioned."""

    joined: list[tuple[Object, Object]] = field(default_factory=list)
    provisioned: list[Object] = field(default_factory=list)


class VolumeBinding(FilterPlugin, ReservePlugin, PreBindPlugin):
    """Finds volumes for claims per node, holds them, and waits for them to be bound.

    Settings: ``bindTimeoutSeconds`` (600).
    Source: kubernetes ``pkg/scheduler/framework/plugins/volumebinding/`` (volume_binding.go, binder.go).
    """

    wakes_on = CHANGES | {"node"}
    skips_by_template = True
    _claims: Claims | None = None

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = context.settings if context is not None else {}
        self._seconds = float(settings.get("bindTimeoutSeconds") or BIND_SECONDS)
        self._lock = threading.Lock()
        self._plans: dict[str, Plan] = {}
        self._held: dict[str, str] = {}

    def connect(self, wake: Callable[[str], None]) -> None:
        """Look claims up in the shared caches."""
        if self.context.informers is not None:
            self._claims = Claims(self.context.informers, wake)

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod has no claim."""
        return not claim_names(pod.pod)

    def may_wait(self, pod: PodInfo) -> bool:
        """Tell that binding this pod may take long: volumes have to be made or bound first."""
        return not self.skips(pod)

    def pre_filter(self, pod: PodInfo) -> PreFiltered | None:
        """Tell that a claim is missing, or must be bound before the pod is scheduled."""
        if self._claims is None or self.skips(pod):
            return None
        why, _ = self._usable(pod.pod, self._claims)
        return PreFiltered(why) if why else None

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes that reach the bound volumes and can get the others."""
        if self._claims is None:
            return Filtered(np.ones(len(nodes), dtype=bool))
        why, claims = self._usable(pod.pod, self._claims)
        if why:
            nowhere = np.zeros(len(nodes), dtype=bool)
            return Filtered(nowhere, {why: ~nowhere}, ~nowhere)
        everywhere = np.ones(len(nodes), dtype=bool)
        there, reached, found, room = (everywhere.copy() for _ in range(4))
        for claim in claims:
            if is_bound(claim):
                volume = self._claims.volume(claim["spec"]["volumeName"])
                if volume is None:
                    there[:] = False
                else:
                    reached &= _reachable(volume, nodes)
        late = [claim for claim in claims if not is_bound(claim)]
        if late:
            found, room = self._obtainable(pod, late, nodes)
        kept = there & reached & found & room
        rows = (
            (NO_VOLUME_LEFT_REASON, ~there),
            (CONFLICT_REASON, ~reached),
            (NO_VOLUME_REASON, ~found),
            (NO_SPACE_REASON, ~room),
        )
        return Filtered(kept, {text: mask for text, mask in rows if mask.any()}, ~kept)

    def reserve(self, pod: PodInfo, node: NodeName) -> str:
        """Hold the volumes that were found for the node."""
        plans: dict[NodeName, Plan] = pod.state.get("VolumeBinding", {})
        plan = plans.get(node)
        if plan is None:
            return ""
        with self._lock:
            taken = [
                name_of(volume) for _, volume in plan.joined if self._held.get(name_of(volume), pod.key) != pod.key
            ]
            if taken:
                return f"volume {taken[0]!r} was taken by another pod"
            self._held.update({name_of(volume): pod.key for _, volume in plan.joined})
            self._plans[pod.key] = plan
        return ""

    def unreserve(self, pod: PodInfo, node: NodeName) -> None:
        """Let the volumes go."""
        self._release(pod.key)

    def pre_bind(self, pod: PodInfo, node: NodeName) -> str:
        """Join claims and volumes, ask for the others to be made on the node, and wait for all to be bound."""
        plan = self._plans.get(pod.key)
        if plan is None or self._claims is None:
            return ""
        for claim, volume in plan.joined:
            reference = {
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace_of(claim),
                "name": name_of(claim), "uid": uid_of(claim),
            }  # fmt: skip
            self.client.patch(PERSISTENT_VOLUMES, name_of(volume), {"spec": {"claimRef": reference}})
        asked: dict[str, int] = {}
        for claim in plan.provisioned:
            change = {"metadata": {"annotations": {SELECTED_NODE: node}}}
            stored = self.client.patch(PERSISTENT_VOLUME_CLAIMS, name_of(claim), change, namespace_of(claim))
            asked[name_of(claim)] = int(stored["metadata"]["resourceVersion"])
        waiting = [*(claim for claim, _ in plan.joined), *plan.provisioned]
        why = self._wait(waiting, asked)
        if not why:
            self._release(pod.key)
        return why

    def _release(self, key: str) -> None:
        with self._lock:
            self._plans.pop(key, None)
            self._held = {volume: holder for volume, holder in self._held.items() if holder != key}

    def _wait(self, claims: Sequence[Object], asked: Mapping[str, int]) -> str:
        """Wait until the claims are bound; `asked` has the versions in which some got their node."""
        clock, never = self.context.clock, threading.Event()
        deadline = clock.monotonic() + self._seconds
        while self._claims is not None:
            current = [self._claims.claim(namespace_of(claim), name_of(claim)) for claim in claims]
            if any(claim is None for claim in current):
                return "a claim was deleted"
            if all(is_bound(claim) for claim in current if claim is not None):
                return ""
            refused = [claim for claim in current if claim is not None and _given_back(claim, asked)]
            if refused:
                return f'provisioning failed for PVC "{name_of(refused[0])}"'
            if clock.monotonic() > deadline:
                break
            clock.wait(never, POLL_SECONDS)
        return "binding volumes: context deadline exceeded"

    def _usable(self, pod: Object, known: Claims) -> tuple[str, list[Object]]:
        """Return why the pod cannot run anywhere, and its claims."""
        claims = []
        for name, ephemeral in claim_names(pod):
            claim = known.claim(namespace_of(pod), name)
            if claim is None and ephemeral:
                return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"', []
            if claim is None:
                return f'persistentvolumeclaim "{name}" not found', []
            if is_being_deleted(claim):
                return f'persistentvolumeclaim "{name}" is being deleted', []
            if (claim.get("status") or {}).get("phase") == "Lost":
                lost = claim["spec"].get("volumeName", "")
                return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{lost}"', []
            claims.append(claim)
        for claim in claims:
            if not is_bound(claim) and not self._is_late(claim, known):
                return IMMEDIATE_REASON, []
        return "", claims

    def _is_late(self, claim: Object, known: Claims) -> bool:
        found = known.storage_class(claim)
        return found is not None and found.get("volumeBindingMode") == LATE and not claim["spec"].get("volumeName")

    def _obtainable(self, pod: PodInfo, claims: Sequence[Object], nodes: NodeTable) -> tuple[Mask, Mask]:
        """Plan for each node how it gets the claims' volumes; the smallest volume that is large enough is taken.

        Returns: the nodes where there are volumes or they can be made, and those where there is room to make them.
        """
        assert self._claims is not None  # noqa: S101  asked for by `filter` only then
        found, room = np.ones(len(nodes), dtype=bool), np.ones(len(nodes), dtype=bool)
        plans = [Plan() for _ in range(len(nodes))]
        for claim in sorted(claims, key=_size):
            open_to = [(volume, _reachable(volume, nodes)) for volume in self._candidates(claim, pod.key)]
            makeable, roomy = self._makeable(claim, nodes), self._roomy(claim, nodes)
            for index in found.nonzero()[0].tolist():
                used = {name_of(volume) for _, volume in plans[index].joined}
                chosen = next((each for each, mask in open_to if mask[index] and name_of(each) not in used), None)
                if chosen is not None:
                    plans[index].joined.append((claim, chosen))
                elif makeable[index]:
                    plans[index].provisioned.append(claim)
                    room[index] &= roomy[index]
                else:
                    found[index] = False
        chosen_from = (found & room).nonzero()[0].tolist()
        pod.state["VolumeBinding"] = {nodes.names[index]: plans[index] for index in chosen_from}
        return found, room

    def _roomy(self, claim: Object, nodes: NodeTable) -> Mask:
        """Return where the claim's driver says it has room for one more volume; drivers that say nothing have."""
        assert self._claims is not None  # noqa: S101  likewise
        storage_class, size = self._claims.storage_class(claim), _size(claim)
        everywhere = np.ones(len(nodes), dtype=bool)
        driver = self._claims.csi_driver(str((storage_class or {}).get("provisioner") or ""))
        if storage_class is None or driver is None or not driver["spec"].get("storageCapacity") or not size:
            return everywhere
        mask = ~everywhere
        for row in self._claims.capacities():
            amount = row.get("maximumVolumeSize") or row.get("capacity")
            if row.get("storageClassName") != name_of(storage_class) or row.get("nodeTopology") is None:
                continue
            if amount is not None and parse(str(amount)).value() >= size:
                selector = from_label_selector(row["nodeTopology"])
                mask |= np.array([selector.matches(labels_of(nodes.node(at))) for at in range(len(nodes))], dtype=bool)
        return mask

    def _candidates(self, claim: Object, key: str) -> list[Object]:
        assert self._claims is not None  # noqa: S101  likewise
        free = [
            volume
            for volume in self._claims.volumes()
            if self._held.get(name_of(volume), key) == key and fits_claim(volume, claim)
        ]
        return sorted(free, key=_size)

    def _makeable(self, claim: Object, nodes: NodeTable) -> Mask:
        assert self._claims is not None  # noqa: S101  likewise
        found = self._claims.storage_class(claim)
        if found is None or found.get("provisioner") in {None, "", NO_PROVISIONER}:
            return np.zeros(len(nodes), dtype=bool)
        mask = np.ones(len(nodes), dtype=bool)
        selected = annotations_of(claim).get(SELECTED_NODE)
        if selected:
            mask &= np.array([name == selected for name in nodes.names], dtype=bool)
        terms = found.get("allowedTopologies") or ()
        if terms:
            rows = [
                [
                    {"key": row["key"], "operator": "In", "values": row["values"]}
                    for row in each["matchLabelExpressions"]
                ]
                for each in terms
            ]
            mask &= any_term([{"matchExpressions": row} for row in rows], nodes)
        return mask


def _given_back(claim: Object, asked: Mapping[str, int]) -> bool:
    """Tell whether a provisioner took the node off a claim: it cannot make the volume there."""
    since = asked.get(name_of(claim))
    if since is None or is_bound(claim) or annotations_of(claim).get(SELECTED_NODE):
        return False
    return int(claim["metadata"]["resourceVersion"]) >= since


def fits_claim(volume: Object, claim: Object) -> bool:
    """Tell whether a free volume is what a claim asks for: class, size, modes, selector; or it is meant for it."""
    spec, wanted = volume["spec"], claim["spec"]
    meant = spec.get("claimRef")
    if meant is not None:
        uid = meant.get("uid")
        same = (meant.get("namespace"), meant.get("name")) == (namespace_of(claim), name_of(claim))
        if not same or (uid and uid != uid_of(claim)):
            return False
    elif (volume.get("status") or {}).get("phase", "Available") != "Available" or is_being_deleted(volume):
        return False
    if class_name(volume) != class_name(claim) or _size(volume) < _size(claim):
        return False
    if spec.get("volumeMode", "Filesystem") != wanted.get("volumeMode", "Filesystem"):
        return False
    if not set(wanted.get("accessModes") or ()) <= set(spec.get("accessModes") or ()):
        return False
    selector = wanted.get("selector")
    return selector is None or from_label_selector(selector).matches(labels_of(volume))


def _size(obj: Object) -> int:
    spec = obj["spec"]
    amounts = spec.get("capacity") or (spec.get("resources") or {}).get("requests") or {}
    return parse(str(amounts.get("storage", "0"))).value()


def _reachable(volume: Object, nodes: NodeTable) -> Mask:
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    if required is None:
        return np.ones(len(nodes), dtype=bool)
    return any_term(required.get("nodeSelectorTerms") or (), nodes)
