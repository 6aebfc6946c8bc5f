"""daemonset: one pod of a template on every node that fits.

The scheduler binds the pods; this controller aims each at its node by an affinity to the node's name.
Source: kubernetes ``pkg/controller/daemon/daemon_controller.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hyperkube_lib.controller_refs import ControllerRefManager, candidates, watch_orphans
from hyperkube_lib.revisions import HASH_LABEL, surplus, track

from hyperkube.client.actions import Delete, delete, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Expectations, Written
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds import taints, workloads
from hyperkube.kinds.node_selectors import NAME_FIELD, fits_required_affinity
from hyperkube.kinds.pods import is_ready, is_terminal, phase, spec_of
from hyperkube.kinds.resources import CONTROLLER_REVISIONS, DAEMON_SETS, NODES, PODS
from hyperkube.kinds.workloads import label_selector_of
from hyperkube.machinery.backoff import Backoff, KeyedBackoff
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.intstr import scaled_or
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    copy_object,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.plugin import Plugin

GENERATION = "deprecated.daemonset.template.generation"
FAILED_BACKOFF = Backoff(initial=1.0, cap=900.0)
BURST = 250
_ALWAYS_TOLERATED = (
    (taints.NOT_READY, taints.NO_EXECUTE),
    (taints.UNREACHABLE, taints.NO_EXECUTE),
    (taints.DISK_PRESSURE, taints.NO_SCHEDULE),
    (taints.MEMORY_PRESSURE, taints.NO_SCHEDULE),
    (taints.PID_PRESSURE, taints.NO_SCHEDULE),
    (taints.UNSCHEDULABLE, taints.NO_SCHEDULE),
)


@dataclass(slots=True)
class Decision:
    """Nodes that need a pod, and pods that have to go."""

    create: list[str] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)


def tolerations_of(template: Object) -> list[Object]:
    """Return the tolerations of the set's pods: the template's, and what a daemon always tolerates."""
    spec = template.get("spec") or {}
    added = list(_ALWAYS_TOLERATED)
    if spec.get("hostNetwork"):
        added.append((taints.NETWORK_UNAVAILABLE, taints.NO_SCHEDULE))
    made = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in added]
    return [*(spec.get("tolerations") or []), *made]


def wants(daemon_set: Object, node: Object) -> tuple[bool, bool]:
    """Return (should run there, may go on running there) for the set's pod on a node."""
    template = (daemon_set.get("spec") or {}).get("template") or {}
    spec = template.get("spec") or {}
    if spec.get("nodeName") and spec["nodeName"] != name_of(node):
        return False, False
    if not fits_required_affinity(spec, name_of(node), labels_of(node)):
        return False, False
    tolerated = tolerations_of(template)
    present: Sequence[Object] = (node.get("spec") or {}).get("taints") or []
    stays = taints.untolerated(present, tolerated, lambda taint: taint.get("effect") == taints.NO_EXECUTE) is None
    return taints.untolerated(present, tolerated, taints.keeps_off) is None, stays


def node_of(pod: Object) -> str:
    """Return the node that the pod is on or aims at."""
    spec = spec_of(pod)
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or []:
        for entry in term.get("matchFields") or []:
            if entry.get("key") == NAME_FIELD and len(entry.get("values") or []) == 1:
                return str(entry["values"][0])
    return ""


def decide(daemon_set: Object, nodes: Sequence[Object], pods: Sequence[Object], update: str, now: datetime) -> Decision:
    """Return which nodes get a pod and which pods go: misplaced, doubled, ended, and then outdated ones."""
    decision = Decision()
    by_node = _by_node(pods)
    known = {name_of(node) for node in nodes}
    for node in nodes:
        should, may_stay = wants(daemon_set, node)
        there = by_node.get(name_of(node), [])
        living = [pod for pod in there if not is_being_deleted(pod)]
        if not may_stay:
            decision.delete += living
            continue
        ended = [pod for pod in living if is_terminal(pod)]
        decision.delete += ended
        living = [pod for pod in living if pod not in ended]
        if should and not there:
            decision.create.append(name_of(node))
        decision.delete += sorted(living, key=lambda pod: (not is_ready(pod), _created(pod)))[1:]
    decision.delete += [
        pod for name, there in by_node.items() if name not in known for pod in there if not is_being_deleted(pod)
    ]
    if not decision.delete:
        decision.delete = _outdated(daemon_set, nodes, by_node, update, now)
    return decision


def _by_node(pods: Sequence[Object]) -> dict[str, list[Object]]:
    found: dict[str, list[Object]] = {}
    for pod in pods:
        found.setdefault(node_of(pod), []).append(pod)
    return found


def _created(pod: Object) -> str:
    return str(metadata(pod).get("creationTimestamp", ""))


def _outdated(
    daemon_set: Object, nodes: Sequence[Object], by_node: dict[str, list[Object]], update: str, now: datetime
) -> list[Object]:
    """Return the pods of older templates that may be replaced now: as many as may be unavailable at once."""
    spec = daemon_set.get("spec") or {}
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete":
        return []
    wanted = [node for node in nodes if wants(daemon_set, node)[0]]
    limit = (strategy.get("rollingUpdate") or {}).get("maxUnavailable")
    spare = max(1, scaled_or(limit, 1, len(wanted), round_up=True))
    sick: list[Object] = []
    well: list[Object] = []
    for node in wanted:
        there = [pod for pod in by_node.get(name_of(node), []) if not is_being_deleted(pod)]
        available = [pod for pod in there if workloads.is_available(pod, spec.get("minReadySeconds", 0), now)]
        spare -= not available
        old = [pod for pod in there if labels_of(pod).get(HASH_LABEL) != update]
        (well if available else sick).extend(old)
    return sick + well[: max(0, spare)]


def status_of(
    daemon_set: Object, nodes: Sequence[Object], pods: Sequence[Object], update: str, now: datetime
) -> dict[str, Any]:
    """Return the status that nodes and pods amount to."""
    spec = daemon_set.get("spec") or {}
    by_node = _by_node([pod for pod in pods if not is_being_deleted(pod)])
    counts = dict.fromkeys(("desired", "current", "misplaced", "ready", "available", "updated"), 0)
    for node in nodes:
        there = by_node.get(name_of(node), [])
        if not wants(daemon_set, node)[0]:
            counts["misplaced"] += bool(there)
            continue
        counts["desired"] += 1
        if there:
            oldest = min(there, key=_created)
            counts["current"] += 1
            counts["ready"] += is_ready(oldest)
            counts["available"] += workloads.is_available(oldest, spec.get("minReadySeconds", 0), now)
            counts["updated"] += labels_of(oldest).get(HASH_LABEL) == update
    return {
        "observedGeneration": metadata(daemon_set).get("generation"),
        "desiredNumberScheduled": counts["desired"],
        "currentNumberScheduled": counts["current"],
        "numberMisscheduled": counts["misplaced"],
        "numberReady": counts["ready"],
        "updatedNumberScheduled": counts["updated"] or None,
        "numberAvailable": counts["available"] or None,
        "numberUnavailable": (counts["desired"] - counts["available"]) or None,
        "collisionCount": (daemon_set.get("status") or {}).get("collisionCount"),
    }


def pod_of(daemon_set: Object, node: str, digest: str) -> Object:
    """Return the pod for a node."""
    reference = workloads.controller_reference(daemon_set, "apps/v1", "DaemonSet")
    template = (daemon_set.get("spec") or {}).get("template") or {}
    pod = workloads.pod_from_template(template, daemon_set, reference)
    generation = (metadata(daemon_set).get("annotations") or {}).get(GENERATION)
    marks = {HASH_LABEL: digest} | ({"pod-template-generation": generation} if generation else {})
    pod["metadata"]["labels"] = {**labels_of(pod), **marks}
    spec = pod["spec"]
    spec["tolerations"] = tolerations_of(template)
    affinity = copy_object(spec.get("affinity") or {})
    required = (affinity.get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    aim = [{"key": NAME_FIELD, "operator": "In", "values": [node]}]
    terms = [{**term, "matchFields": aim} for term in required.get("nodeSelectorTerms") or [{}]]
    affinity.setdefault("nodeAffinity", {})
    affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    spec["affinity"] = affinity
    return pod


class Daemonset(Plugin):
    """Keeps the pods of daemon sets."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        clock = self.context.clock
        self._recorder = EventRecorder(self.client, clock, "daemonset-controller")
        self._expectations = Expectations(clock)
        self._written = Written()
        self._failed = KeyedBackoff(clock, FAILED_BACKOFF)
        self._sets = self.informers.informer(DAEMON_SETS)
        self._pods = self.informers.informer(PODS)
        self._nodes = self.informers.informer(NODES)
        self._revisions = self.informers.informer(CONTROLLER_REVISIONS)
        for informer in (self._pods, self._revisions):
            informer.add_index("controller", workloads.controller_index)
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=clock, logger=self.context.logger, workers=2)
        self._loop.watch(self._sets)
        self._loop.watch_owned(self._pods, "DaemonSet")
        self._loop.watch_owned(self._revisions, "DaemonSet")
        watch_orphans(self._loop, self._pods, self._sets, label_selector_of)
        self._pods.add_handler(self._pod_added, self._pod_updated, self._pod_gone)
        self._nodes.add_handler(self._node_changed, self._node_updated, self._node_changed)
        return self._loop

    def _key(self, pod: Object) -> str:
        owner = controller_of(pod)
        return f"{namespace_of(pod)}/{owner['name']}" if owner and owner.get("kind") == "DaemonSet" else ""

    def _pod_added(self, pod: Object) -> None:
        self._expectations.creation_observed(self._key(pod))

    def _pod_updated(self, old: Object, new: Object) -> None:
        if is_being_deleted(new) and not is_being_deleted(old):
            self._pod_gone(new)

    def _pod_gone(self, pod: Object) -> None:
        self._expectations.deletion_observed(self._key(pod), uid_of(pod))

    def _node_changed(self, _node: Object) -> None:
        for daemon_set in self._sets.list():
            self._loop.enqueue(daemon_set)

    def _node_updated(self, old: Object, new: Object) -> None:
        if labels_of(old) != labels_of(new) or (old.get("spec") or {}) != (new.get("spec") or {}):
            self._node_changed(new)

    def _sync(self, key: str) -> float | None:
        daemon_set = self._sets.get(*split_key(key))
        if daemon_set is None:
            self._expectations.forget(key)
            self._written.forget(key)
            return None
        if is_being_deleted(daemon_set) or self._written.is_stale(key, daemon_set):
            return None
        now = self.context.clock.now()
        manager = ControllerRefManager(self.client, daemon_set, DAEMON_SETS, "DaemonSet", label_selector_of(daemon_set))
        revisions = manager.claim(CONTROLLER_REVISIONS, candidates(self._revisions, daemon_set))
        history = track(daemon_set, "apps/v1", "DaemonSet", revisions)
        if history.actions:
            perform(self.client, self._recorder, history.actions)
            return None  # the new revision comes with an event
        update = labels_of(history.update).get(HASH_LABEL, name_of(history.update))
        pods, nodes = manager.claim(PODS, candidates(self._pods, daemon_set)), self._nodes.list()
        again: float | None = None
        if self._expectations.satisfied(key):
            again = self._act(key, daemon_set, decide(daemon_set, nodes, pods, update, now), update)
        self._write_status(key, daemon_set, status_of(daemon_set, nodes, pods, update, now))
        hashes = {labels_of(pod).get(HASH_LABEL) for pod in pods}
        live = {name_of(history.update)} | {
            name_of(revision) for revision in revisions if labels_of(revision).get(HASH_LABEL) in hashes
        }
        perform(self.client, self._recorder, surplus(daemon_set, revisions, live))
        waiting = workloads.available_in(pods, (daemon_set.get("spec") or {}).get("minReadySeconds", 0), now)
        return min((seconds for seconds in (again, waiting) if seconds is not None), default=None)

    def _write_status(self, key: str, daemon_set: Object, status: dict[str, Any]) -> None:
        changed = workloads.merged_status(daemon_set, status)
        if changed is not None:
            written = self.client.update(DAEMON_SETS, changed, namespace_of(daemon_set), subresource="status")
            self._written.note(key, written)

    def _act(self, key: str, daemon_set: Object, decision: Decision, digest: str) -> float | None:
        going, again = self._after_backoff(key, decision.delete)
        create = decision.create[:BURST]
        if create or going:
            self._expectations.expect(key, creations=len(create), deletions=[uid_of(pod) for pod in going])
        for position, node in enumerate(create):
            try:
                made = self.client.create(PODS, pod_of(daemon_set, node, digest), namespace_of(daemon_set))
            except ApiError as error:
                self._expectations.creation_observed(key, len(create) - position)
                for pod in going:
                    self._expectations.deletion_observed(key, uid_of(pod))
                self._recorder.event(daemon_set, "Warning", "FailedCreate", f"Error creating: {error}")
                raise
            self._recorder.event(daemon_set, "Normal", "SuccessfulCreate", f"Created pod: {name_of(made)}")
        for pod in going:
            if delete(self.client, Delete.of(PODS, pod)):
                self._recorder.event(daemon_set, "Normal", "SuccessfulDelete", f"Deleted pod: {name_of(pod)}")
            else:
                self._expectations.deletion_observed(key, uid_of(pod))
        return again

    def _after_backoff(self, key: str, pods: Sequence[Object]) -> tuple[list[Object], float | None]:
        """Hold back failed pods of a node where they fail again and again; tell when the next may go."""
        going: list[Object] = []
        waits: list[float] = []
        for pod in pods:
            place = f"{key}/{node_of(pod)}"
            left = self._failed.remaining(place) if phase(pod) == "Failed" else 0.0
            if left > 0:
                waits.append(left)
                continue
            if phase(pod) == "Failed":
                self._failed.failed(place)
            going.append(pod)
        return going, min(waits, default=None)
