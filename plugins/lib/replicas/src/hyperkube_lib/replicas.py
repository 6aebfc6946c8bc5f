"""Keeping a number of pods of one template alive: the heart of replica sets and replication controllers.

`decide` compares ``spec.replicas`` with the pods that are there; `ReplicasController` observes, adopts, creates and
deletes. Source: kubernetes ``pkg/controller/replicaset``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from hyperkube_lib.controller_refs import ControllerRefManager, candidates, watch_orphans
from hyperkube_lib.pod_control import Failure, PodControl, deletion_order

from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Expectations
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs.base import Plugin
from hyperkube.kinds import workloads
from hyperkube.kinds.conditions import condition, with_condition, without_condition
from hyperkube.kinds.pods import is_active, is_ready, is_terminal
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.labels import Selector
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    is_being_deleted,
    key_of,
    labels_of,
    metadata,
    namespace_of,
    resource_version_of,
    split_key,
    uid_of,
)

BURST_REPLICAS = 500
"""How many pods one sync creates or deletes at most; the next one waits for the watch to show them."""
TERMINATING_REPLICAS = "DeploymentReplicaSetTerminatingReplicas"


@dataclass(frozen=True, slots=True)
class Decision:
    """How many pods to create, and which ones to delete."""

    create: int
    delete: tuple[Object, ...]


def decide(wanted: int, active: Sequence[Object], related: Callable[[], Sequence[Object]], now: datetime) -> Decision:
    """Return what brings the number of active pods to `wanted`, at most 500 steps at once.

    Args:
        wanted: ``spec.replicas``.
        active: the owner's pods that neither ended nor are being deleted.
        related: finds all pods of the owner's own controller, which share nodes with them; asked only to choose.
        now: pods that are not ready count as ready since now.
    """
    missing = wanted - len(active)
    if missing >= 0:
        return Decision(min(missing, BURST_REPLICAS), ())
    excess = min(-missing, BURST_REPLICAS)
    ordered = deletion_order(active, related(), now) if excess < len(active) else list(active)
    return Decision(0, tuple(ordered[:excess]))


def status_of(
    owner: Object, pods: Sequence[Object], failure: str, now: datetime, terminating: int | None = None
) -> Object:
    """Return the status that the pods amount to.

    Args:
        owner: the replica set or replication controller.
        pods: its active pods.
        failure: the message of a failed creation or deletion, if any.
        now: pods may be available by now.
        terminating: how many pods are being deleted; None where that is not shown.
    """
    spec = owner.get("spec") or {}
    min_ready = spec.get("minReadySeconds", 0)
    template_labels = labels_of(spec.get("template") or {}).items()
    conditions = (owner.get("status") or {}).get("conditions") or []
    if failure:
        missing = spec.get("replicas", 1) > len(pods)
        reason = "FailedCreate" if missing else "FailedDelete"
        if condition({"conditions": conditions}, "ReplicaFailure") is None:
            new = {"type": "ReplicaFailure", "status": "True", "reason": reason, "message": failure}
            conditions = with_condition(conditions, new, now)
    else:
        conditions = without_condition(conditions, "ReplicaFailure")
    return {
        "replicas": len(pods),
        "fullyLabeledReplicas": sum(template_labels <= labels_of(pod).items() for pod in pods) or None,
        "readyReplicas": sum(is_ready(pod) for pod in pods) or None,
        "availableReplicas": sum(workloads.is_available(pod, min_ready, now) for pod in pods) or None,
        "terminatingReplicas": terminating,
        "observedGeneration": metadata(owner).get("generation"),
        "conditions": conditions,
    }


class ReplicasController:
    """The loop; `hyperkube.hookspecs.controller.Controller` for one kind of owner."""

    def __init__(
        self,
        plugin: Plugin,
        resource: GroupVersionResource,
        kind: str,
        *,
        component: str,
        selector_of: Callable[[Object], Selector],
        workers: int,
        shows_terminating: bool = False,
        scaled_down: Callable[[Sequence[Object], Sequence[Object], datetime], None] | None = None,
    ) -> None:
        """Subscribe to the owners and their pods.

        Args:
            plugin: the controller's.
            resource: that of the owners.
            kind: the owners'.
            component: the source of the events.
            selector_of: returns an owner's selector.
            workers: how many owners are synced at once.
            shows_terminating: whether the owners' status has ``terminatingReplicas``.
            scaled_down: is told of the active pods of an owner, those of them that were chosen to go, and the time,
                whenever some stay.
        """
        context = plugin.context
        self._resource = resource
        self._kind = kind
        self._clock = context.clock
        self._client = plugin.client
        self._selector_of = selector_of
        self._recorder = EventRecorder(self._client, self._clock, component)
        self._expectations = Expectations(self._clock)
        self._pod_control = PodControl(self._client, self._recorder, self._expectations)
        self._scaled_down = scaled_down
        self._outdated: dict[str, str] = {}
        self._shows_terminating = shows_terminating and context.gates.get(TERMINATING_REPLICAS, True)
        self._owners = plugin.informers.informer(resource)
        self._pods = plugin.informers.informer(PODS)
        self.loop = ReconcileLoop(context.name, self._sync, clock=self._clock, logger=context.logger, workers=workers)
        self.loop.watch(self._owners)
        self._owners.add_handler(on_delete=self._owner_deleted)
        self._pods.add_index("controller", workloads.controller_index)
        self._pods.add_handler(self._pod_added, self._pod_updated, self._pod_deleted)
        watch_orphans(self.loop, self._pods, self._owners, selector_of)

    def run(self) -> None:
        """Work until `stop`."""
        self.loop.run()

    def begin(self) -> None:
        """Work from now on until `stop`."""
        self.loop.begin()

    def wait_ended(self, seconds: float | None = None) -> bool:
        """Wait for the end of what `stop` ended."""
        return self.loop.wait_ended(seconds)

    def stop(self) -> None:
        """End the loop."""
        self.loop.stop()

    def drain(self) -> int:
        """Do what is to be done now, on this thread."""
        return self.loop.drain()

    def _owner_key(self, pod: Object) -> str:
        """Return the key of the owner of this kind that controls the pod, or the empty string."""
        reference = controller_of(pod)
        if reference is None or reference.get("kind") != self._kind:
            return ""
        owner = self._owners.get(namespace_of(pod), reference["name"])
        return key_of(owner) if owner is not None and uid_of(owner) == reference.get("uid") else ""

    def _owner_deleted(self, owner: Object) -> None:
        # Another one of the same name may be there before the next sync: it must not wait for the old one's pods.
        self._expectations.forget(key_of(owner))

    def _pod_added(self, pod: Object) -> None:
        if is_being_deleted(pod):
            # After a restart a pod may come up that is going already: that is no creation that was expected.
            self._pod_deleted(pod)
            return
        key = self._owner_key(pod)
        if key:
            self._expectations.creation_observed(key)
            self.loop.queue.add(key)

    def _pod_updated(self, old: Object, new: Object) -> None:
        if is_being_deleted(new) and not is_being_deleted(old):
            # Graceful deletion: it counts as gone from now on, not when the kubelet has stopped it.
            self._pod_deleted(new)
            return
        for key in {self._owner_key(old), self._owner_key(new)} - {""}:
            self.loop.queue.add(key)

    def _pod_deleted(self, pod: Object) -> None:
        key = self._owner_key(pod)
        if key:
            self._expectations.deletion_observed(key, uid_of(pod))
            self.loop.queue.add(key)

    def _sync(self, key: str) -> float | None:
        owner = self._owners.get(*split_key(key))
        if owner is None:
            self._expectations.forget(key)
            self._outdated.pop(key, None)
            return None
        # Asked before the pods are read: a pod that the watch brings in between is then counted, never forgotten.
        satisfied = self._expectations.satisfied(key)
        now = self._clock.now()
        candidate_pods = candidates(self._pods, owner)
        pods = self._claimed(owner, candidate_pods)
        failures: list[Failure] = []
        if satisfied and not is_being_deleted(owner):
            failures = self._manage(key, owner, pods, now)
        self._write_status(owner, pods, failures, now, self._terminating(owner, candidate_pods))
        if failures:
            raise failures[0]
        return workloads.available_in(pods, (owner.get("spec") or {}).get("minReadySeconds", 0), now)

    def _claimed(self, owner: Object, pods: list[Object]) -> list[Object]:
        """Return the owner's active pods, after adopting orphans and releasing those that it selects no more.

        `pods` are those that it controls and orphans, read once for a sync: they may be many.
        """
        manager = ControllerRefManager(self._client, owner, self._resource, self._kind, self._selector_of(owner))
        return manager.claim(PODS, filter(is_active, pods))

    def _manage(self, key: str, owner: Object, pods: list[Object], now: datetime) -> list[Failure]:
        wanted = (owner.get("spec") or {}).get("replicas", 1)
        decision = decide(wanted, pods, lambda: self._related(owner, pods), now)
        if decision.create:
            reference = workloads.controller_reference(owner, self._resource.api_version, self._kind)
            pod = workloads.pod_from_template((owner.get("spec") or {}).get("template") or {}, owner, reference)
            return self._pod_control.manage(key, owner, create=[pod] * decision.create)
        if self._scaled_down is not None and 0 < len(decision.delete) < len(pods):
            self._scaled_down(pods, decision.delete, now)
        return self._pod_control.manage(key, owner, delete=decision.delete)

    def _related(self, owner: Object, pods: list[Object]) -> list[Object]:
        """Return the pods of all owners that the same deployment controls."""
        above = controller_of(owner)
        if above is None:
            return pods
        uids = {
            uid_of(other)
            for other in self._owners.list(namespace_of(owner))
            if (controller_of(other) or {}).get("uid") == above.get("uid")
        }
        return [pod for uid in uids for pod in self._pods.by_index("controller", f"{namespace_of(owner)}/{uid}")]

    def _write_status(
        self, owner: Object, pods: list[Object], failures: list[Failure], now: datetime, terminating: int | None
    ) -> None:
        status = status_of(owner, pods, self._message(owner, pods, failures), now, terminating)
        changed = workloads.merged_status(owner, status)
        key, version = key_of(owner), resource_version_of(owner)
        # What is written on a version of before an own write is refused; the news of that write brings the next sync.
        if changed is None or self._outdated.get(key) == version:
            return
        written = self._client.update(self._resource, changed, namespace_of(owner), subresource="status")
        if resource_version_of(written) != version:
            self._outdated[key] = version

    @staticmethod
    def _message(owner: Object, pods: list[Object], failures: list[Failure]) -> str:
        if not failures:
            return ""
        too_many = len(pods) > (owner.get("spec") or {}).get("replicas", 1)
        return f"unable to delete pods: {failures[0]}" if too_many else str(failures[0])

    def _terminating(self, owner: Object, pods: list[Object]) -> int | None:
        """Return how many of the owner's pods are being deleted and have not ended yet; None where it is not shown."""
        if not self._shows_terminating:
            return None
        selector, uid = self._selector_of(owner), uid_of(owner)
        return sum(
            bool((controller_of(pod) or {}).get("uid") == uid) and selector.matches(labels_of(pod))
            for pod in pods
            if is_being_deleted(pod) and not is_terminal(pod)
        )


__all__ = ["BURST_REPLICAS", "Decision", "ReplicasController", "decide", "status_of"]
