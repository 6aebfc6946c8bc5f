"""VolumeBinding: the plugin itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.claims import CHANGES, Claims, is_bound, not_found
from hyperkube_lib.scheduling.resource_scores import shape_of
from hyperkube_scheduler.volume_binding.matching import is_meant_for, reachable_by_driver
from hyperkube_scheduler.volume_binding.plans import SELECTED_NODE, Plan, Planner
from hyperkube_scheduler.volume_binding.progress import progress
from hyperkube_scheduler.volume_binding.scoring import ROOMY_FIRST, score_of, shares_of

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import (
    Filtered,
    FilterPlugin,
    NodeTable,
    PodInfo,
    PreBindPlugin,
    PreFiltered,
    ReservePlugin,
    ScorePlugin,
)
from hyperkube.kinds.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from hyperkube.kinds.volumes import claim_names, not_made_for
from hyperkube.machinery.errors import UsageError
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

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, Mask

CONFLICT_REASON = "node(s) had volume node affinity conflict"
NO_VOLUME_REASON = "node(s) didn't find available persistent volumes to bind"
NO_SPACE_REASON = "node(s) did not have enough free storage"
NO_VOLUME_LEFT_REASON = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
IMMEDIATE_REASON = "pod has unbound immediate PersistentVolumeClaims"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SCORING = "StorageCapacityScoring"
"""The gate by which nodes are scored by their storage."""
LATE = "WaitForFirstConsumer"
BIND_SECONDS = 600.0
POLL_SECONDS = 0.1


class VolumeBinding(FilterPlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """Finds volumes for claims per node, holds them, and waits for them to be bound.

    Settings: ``bindTimeoutSeconds`` (600); ``shape``, how full storage should be, with the gate `SCORING`.
    Source: kubernetes ``pkg/scheduler/framework/plugins/volumebinding/`` (volume_binding.go, binder.go).
    """

    events_to_register = CHANGES | {"node"}
    skips_by_template = True
    _claims: Claims | None = None

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: a shape that cannot be, or a negative timeout.
        """
        super().__init__(context)
        settings = context.settings if context is not None else {}
        self._seconds = float(settings.get("bindTimeoutSeconds") or BIND_SECONDS)
        if self._seconds < 0:
            shown = f"Invalid value: {self._seconds:g}: invalid BindTimeoutSeconds, should not be a negative value"
            raise UsageError(f"bindTimeoutSeconds: {shown}")
        self._scores = context is not None and bool(context.gates.get(SCORING))
        self._shape = shape_of(settings["shape"]) if settings.get("shape") else ROOMY_FIRST
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

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that storage is not scored, or that no claim waits for the pod."""
        return not self._scores or "VolumeBinding" not in pod.state

    def may_wait(self, pod: PodInfo) -> bool:
        """Tell that binding this pod may take long: volumes have to be made or bound first."""
        return not self.skips(pod)

    def pre_filter(self, pod: PodInfo) -> PreFiltered | None:
        """Tell that a claim is missing, or must be bound before the pod is scheduled."""
        if self._claims is None or self.skips(pod):
            return None
        why, _ = _usable(pod.pod, self._claims)
        return PreFiltered(why) if why else None

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes that reach the bound volumes and can get the others."""
        if self._claims is None:
            return Filtered(np.ones(len(nodes), dtype=bool))
        why, claims = _usable(pod.pod, self._claims)
        if why:
            nowhere = np.zeros(len(nodes), dtype=bool)
            return Filtered(nowhere, {why: ~nowhere}, ~nowhere)
        reached, there = _bound(claims, nodes, self._claims)
        found, room = np.ones(len(nodes), dtype=bool), np.ones(len(nodes), dtype=bool)
        late = [claim for claim in claims if not is_bound(claim)]
        if late:
            planned = Planner(self._claims, nodes, lambda volume: self._is_free(volume, pod.key)).plan(late)
            pod.state["VolumeBinding"] = planned.by_node
            found, room = planned.found, planned.room
        feasible = there & reached & found & room
        rows = (
            (CONFLICT_REASON, ~reached),
            (NO_VOLUME_REASON, ~found),
            (NO_SPACE_REASON, ~room),
            (NO_VOLUME_LEFT_REASON, ~there),
        )
        return Filtered(feasible, {text: mask for text, mask in rows if mask.any()}, ~feasible)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Score each node by how full the pod's claims would make its storage; a node without a plan gets 0."""
        plans = pod.state.get("VolumeBinding", {})
        scores = [score_of(shares_of(plans[name]), self._shape) if name in plans else 0 for name in nodes.names]
        return np.array(scores, dtype=np.int64)

    def reserve(self, pod: PodInfo, node: NodeName) -> str:
        """Hold the volumes that were found for the node."""
        plan = pod.state.get("VolumeBinding", {}).get(node)
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
        """Join claims and volumes, ask for the others to be made on the node, and wait for all to be bound.

        Raises:
            Conflict: a volume or claim is another one than when it was planned with.
        """
        plan = self._plans.get(pod.key)
        if plan is None or self._claims is None:
            return ""
        asked = self._ask(plan, node)
        why = self._wait(asked, pod.pod, node, self._claims)
        if not why:
            self._release(pod.key)
        return f"binding volumes: {why}" if why else ""

    def _ask(self, plan: Plan, node: NodeName) -> Plan:
        """Write what the plan says; return it with the objects as they are stored."""
        joined = [(claim, self._give(volume, claim)) for claim, volume in plan.joined]
        provisioned = []
        for claim in plan.provisioned:
            meta = {"resourceVersion": claim["metadata"]["resourceVersion"], "annotations": {SELECTED_NODE: node}}
            change = {"metadata": meta}
            provisioned.append(self.client.patch(PERSISTENT_VOLUME_CLAIMS, name_of(claim), change, namespace_of(claim)))
        return Plan(joined, provisioned)

    def _give(self, volume: Object, claim: Object) -> Object:
        reference = {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace_of(claim),
            "name": name_of(claim), "uid": uid_of(claim), "resourceVersion": claim["metadata"].get("resourceVersion"),
        }  # fmt: skip
        meta: Object = {"resourceVersion": volume["metadata"]["resourceVersion"]}
        if not is_meant_for(volume, claim) and BOUND_BY_CONTROLLER not in annotations_of(volume):
            meta["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
        change = {"metadata": meta, "spec": {"claimRef": reference}}
        return self.client.patch(PERSISTENT_VOLUMES, name_of(volume), change)

    def _wait(self, asked: Plan, pod: Object, node: NodeName, known: Claims) -> str:
        """Wait until everything is bound; return why it is not."""
        clock, never = self.context.clock, threading.Event()
        deadline = clock.monotonic() + self._seconds
        informers = self.context.informers
        pods, nodes = (informers.find(kind) if informers is not None else None for kind in (PODS, NODES))
        while True:
            if pods is not None and pods.has_synced() and pods.get(namespace_of(pod), name_of(pod)) is None:
                return f"pod does not exist any more: {not_found('pod', name_of(pod))}"
            host = nodes.get("", node) if nodes is not None else None
            done, why = progress(asked, node, labels_of(host) if host is not None else None, known)
            if done or why:
                return why
            if clock.monotonic() > deadline:
                return "context deadline exceeded"
            clock.wait(never, POLL_SECONDS)

    def _is_free(self, volume: Object, key: str) -> bool:
        return self._held.get(name_of(volume), key) == key

    def _release(self, key: str) -> None:
        with self._lock:
            self._plans.pop(key, None)
            self._held = {volume: holder for volume, holder in self._held.items() if holder != key}


def _usable(pod: Object, known: Claims) -> tuple[str, list[Object]]:
    """Return why the pod cannot run anywhere, and its claims."""
    claims = []
    for name, ephemeral in claim_names(pod):
        claim = known.claim(namespace_of(pod), name)
        if claim is None and ephemeral:
            return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"', []
        if claim is None:
            return not_found("persistentvolumeclaim", name), []
        if (claim.get("status") or {}).get("phase") == "Lost":
            lost = claim["spec"].get("volumeName", "")
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{lost}"', []
        if is_being_deleted(claim):
            return f'persistentvolumeclaim "{name}" is being deleted', []
        why = not_made_for(claim, pod) if ephemeral else ""
        if why:
            return why, []
        claims.append(claim)
    if any(not is_bound(claim) and not _is_late(claim, known) for claim in claims):
        return IMMEDIATE_REASON, []
    return "", claims


def _is_late(claim: Object, known: Claims) -> bool:
    found = known.storage_class(claim)
    return found is not None and found.get("volumeBindingMode") == LATE and not claim["spec"].get("volumeName")


def _bound(claims: list[Object], nodes: NodeTable, known: Claims) -> tuple[Mask, Mask]:
    """Return which nodes reach the bound claims' volumes, and for which all are there; the first bad one decides."""
    reached, there = np.ones(len(nodes), dtype=bool), np.ones(len(nodes), dtype=bool)
    for claim in claims:
        if is_bound(claim):
            volume = known.volume(claim["spec"]["volumeName"])
            if volume is None:
                return reached, there & ~reached
            reached &= reachable_by_driver(volume, nodes, known)
    return reached, there
