"""The sandboxes and containers that the runtime has of a pod, newest first.

Source: kubernetes ``pkg/kubelet/container/runtime.go`` (PodStatus).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from hyperkube_host.kubelet.types.labels import POD_UID

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, Runtime, SandboxStatus
from hyperkube.machinery.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PodStatus:
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

    def signature(self) -> frozenset[tuple[str, str]]:
        """Return what there is of the pod and how it is: equal as long as nothing came, changed its state or went."""
        containers = ((status.id, str(status.state)) for status in self.all())
        return frozenset([*containers, *((sandbox.id, str(sandbox.ready)) for sandbox in self.sandboxes)])

    def latest(self, name: str) -> ContainerStatus | None:
        """Return the newest container of that name."""
        found = self.containers.get(name)
        return found[0] if found else None

    def all(self) -> list[ContainerStatus]:
        """Return every container."""
        return [status for statuses in self.containers.values() for status in statuses]

    def running(self) -> list[ContainerStatus]:
        """Return the containers that run, or might."""
        return [status for status in self.all() if status.state in {ContainerState.RUNNING, ContainerState.UNKNOWN}]

    @classmethod
    def of(cls, sandboxes: Iterable[SandboxStatus], containers: Iterable[ContainerStatus]) -> PodStatus:
        """Sort the sandboxes and containers of one pod."""
        by_name: dict[str, list[ContainerStatus]] = {}
        for status in containers:
            by_name.setdefault(status.name, []).append(status)
        return cls(
            tuple(sorted(sandboxes, key=lambda sandbox: (sandbox.created_at, sandbox.attempt), reverse=True)),
            {
                name: tuple(sorted(found, key=lambda status: (status.created_at, status.attempt), reverse=True))
                for name, found in by_name.items()
            },
        )


NO_STATUS = PodStatus()


def get_pod_statuses(runtime: Runtime) -> dict[str, PodStatus]:
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
    return {uid: PodStatus.of(sandboxes.get(uid, ()), containers.get(uid, ())) for uid in uids if uid}


def get_pod_status(runtime: Runtime, uid: str) -> PodStatus:
    """Return what the runtime has of one pod."""
    return PodStatus.of(*runtime.pod(uid))


def running_containers(runtime: Runtime) -> dict[tuple[str, str], str]:
    """Return (pod uid, container name) → the id of the container that runs."""
    return {
        (uid, status.name): status.id
        for uid, pod in get_pod_statuses(runtime).items()
        for status in pod.all()
        if status.state is ContainerState.RUNNING
    }
