"""Keeping a number of pods of one template alive: the heart of replica sets and replication controllers.

`decide` compares the wanted number with the pods that are there; `ReplicasController` observes, adopts, creates
and deletes. Creation starts slowly (1, 2, 4, …), so that a template that admission refuses costs one refusal, not
five hundred. Source of the behaviour: kubernetes ``pkg/controller/replicaset``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from hyperkube_lib.controller_refs import ControllerRefManager, candidates, watch_orphans

from hyperkube.client.actions import Delete, delete
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Expectations
from hyperkube.client.reconcile import ReconcileLoop, namespace_is_going
from hyperkube.hookspecs.base import Plugin
from hyperkube.kinds import workloads
from hyperkube.kinds.conditions import condition, with_condition, without_condition
from hyperkube.kinds.pods import is_active, is_ready
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.labels import Selector
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    is_being_deleted,
    key_of,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)

AT_ONCE = 8
"""Attempts under way at the same time, once it goes well."""

BURST = 500


@dataclass(frozen=True, slots=True)
class Decision:
    """How many pods to create, and which ones to delete."""

    create: int
    delete: tuple[Object, ...]


def decide(wanted: int, active: Sequence[Object], related: Sequence[Object], now: datetime) -> Decision:
    """Return what brings the number of active pods to `wanted`, at most 500 steps at once.

    Args:
        wanted: ``spec.replicas``.
        active: the owner's pods that neither ended nor are being deleted.
        related: all pods of the owner's own controller, which share nodes with them.
        now: pods that are not ready count as ready since now.
    """
    missing = wanted - len(active)
    if missing >= 0:
        return Decision(min(missing, BURST), ())
    excess = min(-missing, BURST)
    ordered = workloads.deletion_order(active, related, now) if excess < len(active) else list(active)
    return Decision(0, tuple(ordered[:excess]))


def status_of(owner: Object, pods: Sequence[Object], failure: str, now: datetime) -> Object:
    """Return the status that the pods amount to; `failure` is the message of a refused creation or deletion."""
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
    ) -> None:
        context = plugin.context
        self._resource = resource
        self._kind = kind
        self._clock = context.clock
        self._client = plugin.client
        self._selector_of = selector_of
        self._recorder = EventRecorder(self._client, self._clock, component)
        self._expectations = Expectations(self._clock)
        self._owners = plugin.informers.informer(resource)
        self._pods = plugin.informers.informer(PODS)
        self.loop = ReconcileLoop(context.name, self._sync, clock=self._clock, logger=context.logger, workers=workers)
        self.loop.watch(self._owners)
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

    def _pod_added(self, pod: Object) -> None:
        if is_being_deleted(pod):
            self._pod_deleted(pod)
            return
        key = self._owner_key(pod)
        if key:
            self._expectations.created(key)
            self.loop.queue.add(key)

    def _pod_updated(self, old: Object, new: Object) -> None:
        if is_being_deleted(new) and not is_being_deleted(old):
            self._pod_deleted(new)
            return
        for key in {self._owner_key(old), self._owner_key(new)} - {""}:
            self.loop.queue.add(key)

    def _pod_deleted(self, pod: Object) -> None:
        key = self._owner_key(pod)
        if key:
            self._expectations.deleted(key, uid_of(pod))
            self.loop.queue.add(key)

    def _sync(self, key: str) -> float | None:
        owner = self._owners.get(*split_key(key))
        if owner is None:
            self._expectations.forget(key)
            return None
        satisfied = self._expectations.satisfied(key)
        now = self._clock.now()
        pods = self._claimed(owner)
        failure: ApiError | None = None
        if satisfied and not is_being_deleted(owner):
            failure = self._scale(key, owner, pods, now)
        self._write_status(owner, pods, failure, now)
        if failure is not None:
            raise failure
        return workloads.available_in(pods, (owner.get("spec") or {}).get("minReadySeconds", 0), now)

    def _claimed(self, owner: Object) -> list[Object]:
        """Return the owner's active pods, after adopting orphans and releasing those that it selects no more."""
        manager = ControllerRefManager(self._client, owner, self._resource, self._kind, self._selector_of(owner))
        return manager.claim(PODS, filter(is_active, candidates(self._pods, owner)))

    def _scale(self, key: str, owner: Object, pods: list[Object], now: datetime) -> ApiError | None:
        decision = decide((owner.get("spec") or {}).get("replicas", 1), pods, self._related(owner, pods), now)
        if decision.create:
            self._expectations.expect(key, creations=decision.create)
            return self._create(key, owner, decision.create)
        if decision.delete:
            self._expectations.expect(key, deletions=[uid_of(pod) for pod in decision.delete])
            return self._delete(key, owner, decision.delete)
        return None

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

    def _create(self, key: str, owner: Object, count: int) -> ApiError | None:
        reference = workloads.controller_reference(owner, self._resource.api_version, self._kind)
        template = (owner.get("spec") or {}).get("template") or {}
        pod = workloads.pod_from_template(template, owner, reference)

        def create() -> None:
            made = self._client.create(PODS, pod, namespace_of(owner))
            self._record(owner, "Normal", "SuccessfulCreate", f"Created pod: {name_of(made)}")

        done, failure = slow_start(count, create)
        self._expectations.created(key, count - done)
        if isinstance(failure, OSError):
            raise failure
        if failure is None or namespace_is_going(failure):
            return None
        self._record(owner, "Warning", "FailedCreate", f"Error creating: {failure}")
        return failure

    def _delete(self, key: str, owner: Object, pods: Sequence[Object]) -> ApiError | None:
        failed: ApiError | None = None
        for pod in pods:
            try:
                there = delete(self._client, Delete.of(PODS, pod))
            except ApiError as error:
                self._expectations.deleted(key, uid_of(pod))
                self._record(owner, "Warning", "FailedDelete", f"Error deleting: {error}")
                failed = error
                continue
            if there:
                self._record(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {name_of(pod)}")
            else:
                self._expectations.deleted(key, uid_of(pod))
        return failed

    def _record(self, owner: Object, event_type: str, reason: str, message: str) -> None:
        self._recorder.event(owner, event_type, reason, message)

    def _write_status(self, owner: Object, pods: list[Object], failure: ApiError | None, now: datetime) -> None:
        status = status_of(owner, pods, str(failure) if failure else "", now)
        changed = workloads.merged_status(owner, status)
        if changed is None:
            return
        self._client.update(self._resource, changed, namespace_of(owner), subresource="status")


__all__ = ["Decision", "ReplicasController", "decide", "status_of"]


def slow_start(count: int, attempt: Callable[[], None]) -> tuple[int, ApiError | OSError | None]:
    """Call `attempt` `count` times, in batches of 1, 2, 4, …, each batch on several threads.

    A mistake that meets every attempt costs a few of them, not hundreds.
    Source: kubernetes ``pkg/controller/replicaset/replica_set.go`` (slowStartBatch).

    Returns:
        How many attempts went well; and the first failure of the batch after which the rest was left undone, if any.
    """
    done, batch = 0, 1
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="slow-start") as pool:
        while done < count:
            size = min(batch, count - done)
            outcomes = [_outcome(attempt)] if size == 1 else list(pool.map(_outcome, [attempt] * size))
            failures = [failure for failure in outcomes if failure is not None]
            done += size - len(failures)
            if failures:
                return done, failures[0]
            batch *= 2
    return done, None


def _outcome(attempt: Callable[[], None]) -> ApiError | OSError | None:
    try:
        attempt()
    except (ApiError, OSError) as failure:
        return failure
    return None
