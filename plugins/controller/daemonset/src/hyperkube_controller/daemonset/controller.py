"""The loop around the decisions.

Source: kubernetes ``pkg/controller/daemon/daemon_controller.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperkube_controller.daemonset.observed import Observed
from hyperkube_controller.daemonset.status import status_of
from hyperkube_lib.controller_refs import ControllerRefManager, candidates, watch_orphans
from hyperkube_lib.pod_control import Failure, PodControl
from hyperkube_lib.revisions import (
    DAEMON_SET_REVISIONS,
    HASH_LABEL,
    duplicates_of,
    sync_update_revision,
    truncate_history,
)

from hyperkube.client.actions import Delete, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Expectations, Written
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds import workloads
from hyperkube.kinds.resources import CONTROLLER_REVISIONS, DAEMON_SETS, NODES, PODS
from hyperkube.kinds.workloads import label_selector_of
from hyperkube.machinery.backoff import Backoff, KeyedBackoff
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    is_being_deleted,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

FAILED_PODS_BACKOFF = Backoff(initial=1.0, cap=900.0)
BURST_REPLICAS = 250


class Settings(Record):
    """How many daemon sets are synced at once."""

    concurrent_daemonset_syncs: int = 2


class Daemonset(Plugin):
    """Keeps the pods of daemon sets."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        clock = self.context.clock
        self._recorder = EventRecorder(self.client, clock, "daemonset-controller")
        self._expectations = Expectations(clock)
        self._pod_control = PodControl(self.client, self._recorder, self._expectations)
        self._written = Written()
        self._failed_pods = KeyedBackoff(clock, FAILED_PODS_BACKOFF)
        self._sets = self.informers.informer(DAEMON_SETS)
        self._pods = self.informers.informer(PODS)
        self._nodes = self.informers.informer(NODES)
        self._revisions = self.informers.informer(CONTROLLER_REVISIONS)
        for informer in (self._pods, self._revisions):
            informer.add_index("controller", workloads.controller_index)
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=clock,
            logger=self.context.logger,
            workers=self.settings(Settings).concurrent_daemonset_syncs,
        )
        self._loop.watch(self._sets)
        self._sets.add_handler(on_delete=self._set_deleted)
        self._loop.watch_owned(self._pods, "DaemonSet")
        self._loop.watch_owned(self._revisions, "DaemonSet")
        watch_orphans(self._loop, self._pods, self._sets, label_selector_of)
        self._pods.add_handler(self._pod_added, self._pod_updated, self._pod_deleted)
        self._nodes.add_handler(self._node_changed, self._node_updated, self._node_changed)
        return self._loop

    def _set_deleted(self, daemon_set: Object) -> None:
        # Another one of the same name may be there before the next sync: it must not wait for the old one's pods.
        self._expectations.forget(key_of(daemon_set))

    def _key(self, pod: Object) -> str:
        """Return the key of the daemon set that controls the pod, or the empty string."""
        owner = controller_of(pod)
        if owner is None or owner.get("kind") != "DaemonSet":
            return ""
        daemon_set = self._sets.get(namespace_of(pod), owner["name"])
        return key_of(daemon_set) if daemon_set is not None and uid_of(daemon_set) == owner.get("uid") else ""

    def _pod_added(self, pod: Object) -> None:
        if is_being_deleted(pod):
            self._pod_deleted(pod)
        else:
            self._expectations.creation_observed(self._key(pod))

    def _pod_updated(self, old: Object, new: Object) -> None:
        if is_being_deleted(new) and not is_being_deleted(old):
            self._pod_deleted(new)

    def _pod_deleted(self, pod: Object) -> None:
        self._expectations.deletion_observed(self._key(pod), uid_of(pod))

    def _node_changed(self, _node: Object) -> None:
        for daemon_set in self._sets.list():
            self._loop.enqueue(daemon_set)

    def _node_updated(self, old: Object, new: Object) -> None:
        if labels_of(old) != labels_of(new) or (old.get("spec") or {}) != (new.get("spec") or {}):
            self._node_changed(new)

    def _sync(self, key: str) -> float | None:
        from hyperkube_controller.daemonset.pods import pods_by_node

        daemon_set = self._sets.get(*split_key(key))
        if daemon_set is None:
            self._expectations.forget(key)
            self._written.forget(key)
            return None
        selector = label_selector_of(daemon_set)
        if selector.is_empty:
            text = "This daemon set is selecting all pods. A non-empty selector is required."
            self._recorder.event(daemon_set, "Warning", "SelectingAll", text)
            return None
        if is_being_deleted(daemon_set) or self._written.is_stale(key, daemon_set):
            return None
        manager = ControllerRefManager(self.client, daemon_set, DAEMON_SETS, "DaemonSet", selector)
        revisions = manager.claim(CONTROLLER_REVISIONS, candidates(self._revisions, daemon_set))
        update, collisions = sync_update_revision(self.client, daemon_set, DAEMON_SET_REVISIONS, revisions)
        # Asked before the pods are read: a pod that the watch brings in between is then counted, never forgotten.
        satisfied = self._expectations.satisfied(key)
        pods = manager.claim(PODS, candidates(self._pods, daemon_set))
        duplicates = duplicates_of(update, revisions)
        if duplicates:
            self._merge(duplicates, update, pods)
            return None  # what was written brings the set back
        waits: list[float] = []
        observed = Observed(
            daemon_set,
            self._nodes.list(),
            pods_by_node(pods),
            labels_of(update).get(HASH_LABEL) or name_of(update),
            self.context.clock.now(),
            lambda node: self._may_replace(daemon_set, node, waits),
        )
        failures = self._manage(key, observed) if satisfied else []
        self._write_status(key, daemon_set, status_of(observed, collisions, processed=satisfied))
        if failures:
            raise failures[0]
        if satisfied:
            self._truncate_history(daemon_set, pods, revisions, update)
        available = workloads.available_in(pods, observed.min_ready_seconds, observed.now)
        return min([*waits, *([] if available is None else [available])], default=None)

    def _manage(self, key: str, observed: Observed) -> list[Failure]:
        """Create and delete what has to be; then, when nothing had to be, take the next step of an update."""
        from hyperkube_controller.daemonset.decision import Decision, manage
        from hyperkube_controller.daemonset.pods import pod_of
        from hyperkube_controller.daemonset.rolling_update import rolling_update

        decision = manage(observed)
        for event in decision.events:
            self._recorder.event(observed.daemon_set, *event)
        if not decision.create and not decision.delete:
            update = rolling_update(observed)
            decision = Decision(update.create, update.delete)
        pods = [pod_of(observed.daemon_set, node, observed.digest) for node in decision.create[:BURST_REPLICAS]]
        going = decision.delete[:BURST_REPLICAS]
        return self._pod_control.manage(key, observed.daemon_set, create=pods, delete=going)

    def _may_replace(self, daemon_set: Object, node: str, waits: list[float]) -> bool:
        """Tell whether a failed pod of the node may be deleted now; if not, note when the next may.

        A kubelet that rejects the pod again and again must not be answered with a new one each time.
        """
        generation = (daemon_set.get("status") or {}).get("observedGeneration", 0)
        place = f"{uid_of(daemon_set)}/{generation}/{node}"
        left = self._failed_pods.remaining(place)
        if left > 0:
            waits.append(left)
            return False
        self._failed_pods.collect()
        self._failed_pods.failed(place)
        return True

    def _write_status(self, key: str, daemon_set: Object, status: dict[str, Any]) -> None:
        changed = workloads.merged_status(daemon_set, status)
        if changed is not None:
            written = self.client.update(DAEMON_SETS, changed, namespace_of(daemon_set), subresource="status")
            self._written.note(key, written)

    def _merge(self, duplicates: Sequence[Object], update: Object, pods: Sequence[Object]) -> None:
        """Delete revisions that keep the present template too; their pods are of the present revision from then on."""
        digest = labels_of(update).get(HASH_LABEL) or name_of(update)
        merged = {labels_of(revision).get(HASH_LABEL) for revision in duplicates}
        for pod in pods:
            if labels_of(pod).get(HASH_LABEL) in merged - {digest}:
                patch = {"metadata": {"uid": uid_of(pod), "labels": {HASH_LABEL: digest}}}
                self.client.patch(PODS, name_of(pod), patch, namespace_of(pod))
        perform(self.client, None, [Delete.of(CONTROLLER_REVISIONS, revision) for revision in duplicates])

    def _truncate_history(
        self, daemon_set: Object, pods: Sequence[Object], revisions: Sequence[Object], update: Object
    ) -> None:
        hashes = {labels_of(pod).get(HASH_LABEL) for pod in pods}
        old = [revision for revision in revisions if name_of(revision) != name_of(update)]
        live = {name_of(revision) for revision in old if labels_of(revision).get(HASH_LABEL) in hashes}
        perform(self.client, None, truncate_history(daemon_set, old, live, live_count=True))
