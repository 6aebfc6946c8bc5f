"""The kubelet's record of one pod between two syncs.

Source: kubernetes ``pkg/kubelet/pod_workers.go`` (podSyncStatus, PodWorkerState).
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from hyperkube_host.kubelet.pod.restart_backoff import RestartBackoff
from hyperkube_host.kubelet.types.allocation import Allocation
from hyperkube_host.kubelet.types.pod_spec import LEAST_GRACE_SECONDS, pod_grace_seconds
from hyperkube_host.kubelet.types.pod_status import CONDITIONS_BY_KUBELET, Failure, Waiting, foreign_conditions
from hyperkube_host.kubelet.types.pod_update import is_static
from hyperkube_host.kubelet.types.resize import InProgress, Pending

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, is_being_deleted


class PodState(Enum):
    """How far a pod is on this node; it only ever moves downwards in this list."""

    PENDING = "pending"
    """Not admitted yet."""
    SYNCING = "syncing"
    """Admitted: its containers run or will run."""
    TERMINATING = "terminating"
    """None of its containers will be started again; those that run are being stopped."""
    TERMINATED = "terminated"
    """Its containers are stopped and its volumes are torn down."""
    REJECTED = "rejected"
    """Not admitted by the node; nothing of it ever ran here."""


@dataclass(slots=True)
class PodEntry:
    """One pod of this node, changed by its own worker; `pod`, `removed` and `put_again` by its source alone.

    Attributes:
        pod: as its source last delivered it; shared, not to be changed.
        removed: its source does not have it any more.
        put_again: what its source has delivered after that; a pod of this uid begins anew once this one has gone.
        state: how far it is.
        rejection: the status to report when the node rejected it.
        failure: the reason and message when the kubelet gave it up.
        grace_override: the longest its containers may take to stop, where something does not let them take their own.
        disruption: the condition DisruptionTarget of a pod that has to make room.
        mount_failures: how often in a row its volumes could not be set up.
        awaits_attachment: whether that is because the controller has not attached them yet.
        volumes_are_ready: whether all of them are set up.
        volumes_refused: whether they never can be, as the pod asks for them.
        waiting: container name → why its last start failed.
        restarts: the delays of crashed containers.
        observed: the signature of what the runtime had of it when its worker looked last.
        messages: container id → termination message.
        resize_pending: a resize that it asks for and was not granted.
        resize_in_progress: a resize that was granted and is not in force everywhere.
        resized_from: what it was granted before that.
        sandboxes_stopped: ids of the sandboxes that were stopped: one that died by itself has still to be.
        reported: the status that was written last.
        writing: the status that is being written; its echo may come before the answer does.
        version: the resource version of the pod after that.
    """

    pod: Object
    removed: bool = False
    put_again: Object | None = None
    state: PodState = PodState.PENDING
    rejection: Object | None = None
    failure: Failure | None = None
    grace_override: float | None = None
    disruption: Object | None = None
    mount_failures: int = 0
    awaits_attachment: bool = False
    volumes_are_ready: bool = False
    volumes_refused: bool = False
    waiting: dict[str, Waiting] = field(default_factory=dict)
    restarts: RestartBackoff = field(default_factory=RestartBackoff)
    observed: frozenset[tuple[str, str]] | None = None
    messages: dict[str, str] = field(default_factory=dict)
    resize_pending: Pending | None = None
    resize_in_progress: InProgress | None = None
    resized_from: Allocation | None = None
    sandboxes_stopped: set[str] = field(default_factory=set)
    reported: Object | None = None
    writing: Object | None = None
    version: str = ""

    @property
    def is_admitted(self) -> bool:
        """Whether the node decided to run the pod."""
        return self.state in {PodState.SYNCING, PodState.TERMINATING, PodState.TERMINATED}

    @property
    def is_active(self) -> bool:
        """Whether it holds resources of the node: it was admitted, and its containers have not all ended for good."""
        return self.state in {PodState.SYNCING, PodState.TERMINATING}

    @property
    def must_terminate(self) -> bool:
        """Whether its containers must stop for good."""
        return (
            self.removed
            or self.state in {PodState.TERMINATING, PodState.TERMINATED}
            or self.failure is not None
            or is_being_deleted(self.pod)
        )

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to do for a pod that its source has removed."""
        return self.removed and self.state in {PodState.TERMINATED, PodState.REJECTED}

    def count_mount_failure(self, *, awaits_attachment: bool) -> int:
        """Count that volumes could not be set up; return how often in a row that was so before.

        To wait for the controller to attach and to mount are two operations, of which each has a back-off of its own.
        """
        if awaits_attachment is not self.awaits_attachment:
            self.awaits_attachment, self.mount_failures = awaits_attachment, 0
        self.mount_failures += 1
        return self.mount_failures - 1

    def grace_seconds(self) -> float:
        """Return how long its containers may take to stop."""
        seconds = self._own_grace_seconds()
        return seconds if self.grace_override is None else max(LEAST_GRACE_SECONDS, min(seconds, self.grace_override))

    def _own_grace_seconds(self) -> float:
        if self.removed and not is_static(self.pod):
            return LEAST_GRACE_SECONDS  # a forced deletion: the API server has removed the pod already
        return pod_grace_seconds(self.pod)

    def view(self) -> Object:
        """Return the pod with the status that was reported last, and the conditions of others as they are now."""
        if self.reported is None:
            return self.pod
        own = [c for c in self.reported.get("conditions") or [] if c.get("type") in CONDITIONS_BY_KUBELET]
        return {**self.pod, "status": {**self.reported, "conditions": [*foreign_conditions(self.pod), *own]}}
