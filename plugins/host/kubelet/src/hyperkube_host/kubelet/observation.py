"""What the runtime has of a pod, newest first, and the labels and annotations by which it is found again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import orjson

from hyperkube.hookspecs.runtime import ContainerStatus, NotifiesChanges, Runtime, SandboxStatus
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of

POD_NAME = "io.kubernetes.pod.name"
POD_NAMESPACE = "io.kubernetes.pod.namespace"
POD_UID = "io.kubernetes.pod.uid"
CONTAINER_NAME = "io.kubernetes.container.name"
CONTAINER_HASH = "io.kubernetes.container.hash"
RESTART_COUNT = "io.kubernetes.container.restartCount"
MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath"
MESSAGE_POLICY = "io.kubernetes.container.terminationMessagePolicy"
GRACE_PERIOD = "io.kubernetes.pod.terminationGracePeriod"


def container_hash(container: Object) -> str:
    """Return a digest of what, when changed, needs a new container: its name and image."""
    essence = orjson.dumps([container["name"], container.get("image", "")])
    return hashlib.blake2b(essence, digest_size=4).hexdigest()


def pod_labels(pod: Object) -> dict[str, str]:
    """Return the labels of everything that belongs to a pod."""
    return {POD_NAME: name_of(pod), POD_NAMESPACE: namespace_of(pod), POD_UID: uid_of(pod)}


@dataclass(frozen=True, slots=True)
class Observed:
    """The sandboxes and containers of one pod, newest first; containers by name."""

    sandboxes: tuple[SandboxStatus, ...] = ()
    containers: Mapping[str, tuple[ContainerStatus, ...]] = field(default_factory=dict)

    @property
    def sandbox(self) -> SandboxStatus | None:
        """The newest sandbox."""
        return self.sandboxes[0] if self.sandboxes else None

    @property
    def ready_sandbox(self) -> SandboxStatus | None:
        """The newest sandbox, if it is ready."""
        return self.sandboxes[0] if self.sandboxes and self.sandboxes[0].ready else None

    def latest(self, name: str) -> ContainerStatus | None:
        """Return the newest container of that name."""
        found = self.containers.get(name)
        return found[0] if found else None

    def all(self) -> list[ContainerStatus]:
        """Return every container."""
        return [status for statuses in self.containers.values() for status in statuses]

    def running(self) -> list[ContainerStatus]:
        """Return the containers that run, or might."""
        return [status for status in self.all() if status.state in {"running", "unknown"}]


NOTHING = Observed()


def arrange(sandboxes: Iterable[SandboxStatus], containers: Iterable[ContainerStatus]) -> Observed:
    """Sort what belongs to one pod."""
    by_name: dict[str, list[ContainerStatus]] = {}
    for status in containers:
        by_name.setdefault(status.name, []).append(status)
    return Observed(
        tuple(sorted(sandboxes, key=lambda sandbox: (sandbox.created_at, sandbox.attempt), reverse=True)),
        {
            name: tuple(sorted(found, key=lambda status: (status.created_at, status.attempt), reverse=True))
            for name, found in by_name.items()
        },
    )


def observe_all(runtime: Runtime) -> dict[str, Observed]:
    """Return what the runtime has, by pod uid."""
    sandboxes: dict[str, list[SandboxStatus]] = {}
    owner: dict[str, str] = {}
    for sandbox in runtime.sandboxes():
        sandboxes.setdefault(sandbox.uid, []).append(sandbox)
        owner[sandbox.id] = sandbox.uid
    containers: dict[str, list[ContainerStatus]] = {}
    for status in runtime.containers():
        uid = owner.get(status.sandbox_id) or status.labels.get(POD_UID, "")
        containers.setdefault(uid, []).append(status)
    uids = {*sandboxes, *containers}
    return {uid: arrange(sandboxes.get(uid, ()), containers.get(uid, ())) for uid in uids if uid}


def observe(runtime: Runtime, uid: str) -> Observed:
    """Return what the runtime has of one pod."""
    if isinstance(runtime, NotifiesChanges):
        return arrange(*runtime.pod(uid))
    sandboxes = [sandbox for sandbox in runtime.sandboxes() if sandbox.uid == uid]
    ids = {sandbox.id for sandbox in sandboxes}
    return arrange(sandboxes, [status for status in runtime.containers() if status.sandbox_id in ids])
