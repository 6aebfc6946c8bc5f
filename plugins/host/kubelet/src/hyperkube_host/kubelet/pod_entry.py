"""What the kubelet remembers of one pod between two looks at it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hyperkube_host.kubelet.pod_status import Waiting

from hyperkube.machinery.objects import Object, annotations_of, is_being_deleted, metadata, name_of, namespace_of

SOURCE_ANNOTATION = "kubernetes.io/config.source"
HASH_ANNOTATION = "kubernetes.io/config.hash"
MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
RESTART_FIRST, RESTART_MOST = 10.0, 300.0
DEFAULT_GRACE = 30.0
LEAST_GRACE = 2.0


def is_mirror(pod: Object) -> bool:
    """Tell whether a pod of the API only shows a static pod."""
    return MIRROR_ANNOTATION in annotations_of(pod)


def is_static(pod: Object) -> bool:
    """Tell whether a pod comes from a file or URL of the node."""
    return annotations_of(pod).get(SOURCE_ANNOTATION, "api") != "api"


def describe(pod: Object) -> str:
    """Return ``name_namespace(uid)``, as Kubernetes' messages write a pod."""
    return f"{name_of(pod)}_{namespace_of(pod)}({metadata(pod).get('uid', '')})"


@dataclass(slots=True)
class Crash:
    """The restart back-off of one container: the delay in force and when (wall seconds) it was set."""

    delay: float
    updated: float


@dataclass(slots=True)
class PodEntry:
    """One pod of this node; changed only by its own worker, except `pod` and `removed`.

    Attributes:
        pod: as its source last gave it; shared, not to be changed.
        removed: its source has it no more.
        admitted: the node took it in.
        refused: its status, when the node did not.
        failure: (reason, message) when the kubelet gave it up.
        complete: nothing of it will be started again.
        ended: its containers are stopped and its volumes are gone.
    """

    pod: Object
    removed: bool = False
    admitted: bool = False
    refused: Object | None = None
    failure: tuple[str, str] | None = None
    complete: bool = False
    ended: bool = False
    mount_failures: int = 0
    waiting: dict[str, Waiting] = field(default_factory=dict)
    crashes: dict[str, Crash] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    reported: Object | None = None

    @property
    def must_end(self) -> bool:
        """Whether its containers shall stop for good."""
        return self.removed or self.complete or self.failure is not None or is_being_deleted(self.pod)

    def grace_seconds(self) -> float:
        """Return how long its containers may take to stop."""
        meta, spec = metadata(self.pod), self.pod["spec"]
        if self.removed and not is_static(self.pod):
            return LEAST_GRACE  # the API has let go of it already: somebody forced the deletion
        if "deletionGracePeriodSeconds" in meta:
            return max(LEAST_GRACE, float(meta["deletionGracePeriodSeconds"]))
        seconds = spec.get("terminationGracePeriodSeconds")
        return DEFAULT_GRACE if seconds is None else max(LEAST_GRACE, float(seconds))

    def restart_wait(self, name: str, finished_at: float, now: float) -> float:
        """Return the seconds that a crashed container must still wait, 0 when it is started now.

        Each start lengthens the delay of the next one from 10 s to 5 min; ten quiet minutes end it.
        Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (doBackOff).
        """
        crash = self.crashes.get(name)
        if crash is not None and finished_at - crash.updated > 2 * RESTART_MOST:
            crash = None
        if crash is not None and now - finished_at < crash.delay:
            return crash.delay - (now - finished_at)
        delay = RESTART_FIRST if crash is None else min(RESTART_MOST, crash.delay * 2)
        self.crashes[name] = Crash(delay, now)
        return 0.0

    def view(self) -> Object:
        """Return the pod with the status that was reported last, and others' conditions as they are now."""
        if self.reported is None:
            return self.pod
        from hyperkube_host.kubelet.pod_status import OWNED

        theirs = [c for c in (self.pod.get("status") or {}).get("conditions") or [] if c.get("type") not in OWNED]
        ours = [c for c in self.reported.get("conditions") or [] if c.get("type") in OWNED]
        return {**self.pod, "status": {**self.reported, "conditions": [*theirs, *ours]}}
