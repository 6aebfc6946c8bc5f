"""What the scheduler would do with a set of pods: the real one, run on a copy of a cluster in memory.

The copy has no kubelets and no controllers. What the scheduler waits for is done at once in their stead: an evicted pod
is gone, a claim gets the volume that was chosen or asked for. Time stands still but for back-offs and waits.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from hyperkube_host.scheduler.cache.requests import Requests, amount, requests_of
from hyperkube_host.scheduler.options import SchedulerOptions
from hyperkube_host.scheduler.queue.scheduling_queue import QueueState
from hyperkube_host.scheduler.scheduler import Scheduler

from hyperkube.client.client import MERGE_PATCH, PatchBody, WatchEvent
from hyperkube.client.fake import FakeClient
from hyperkube.kinds.pods import is_terminal
from hyperkube.kinds.resources import (
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    DEPLOYMENTS,
    DEVICE_CLASSES,
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    POD_DISRUPTION_BUDGETS,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    SERVICES,
    STATEFUL_SETS,
    STORAGE_CLASSES,
)
from hyperkube.machinery.clock import Clock, FakeClock, SystemClock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, annotations_of, key_of, name_of, namespace_of, uid_of

KINDS: dict[str, GroupVersionResource] = {
    "CSINode": CSI_NODES,
    "CSIStorageCapacity": CSI_STORAGE_CAPACITIES,
    "Deployment": DEPLOYMENTS,
    "DeviceClass": DEVICE_CLASSES,
    "Namespace": NAMESPACES,
    "Node": NODES,
    "PersistentVolume": PERSISTENT_VOLUMES,
    "PersistentVolumeClaim": PERSISTENT_VOLUME_CLAIMS,
    "Pod": PODS,
    "PodDisruptionBudget": POD_DISRUPTION_BUDGETS,
    "PodGroup": POD_GROUPS,
    "PriorityClass": PRIORITY_CLASSES,
    "ReplicaSet": REPLICA_SETS,
    "ReplicationController": REPLICATION_CONTROLLERS,
    "ResourceClaim": RESOURCE_CLAIMS,
    "ResourceSlice": RESOURCE_SLICES,
    "Service": SERVICES,
    "StatefulSet": STATEFUL_SETS,
    "StorageClass": STORAGE_CLASSES,
}
"""What scheduling looks at; a copy needs nothing else."""

SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
RESOURCES = ("cpu", "memory", "pods")
POLL_SECONDS = 0.002
QUIET_POLLS = 10
"""So many looks without any change while something is under way: it waits for time to pass."""
STEP_SECONDS = 0.5
BACKOFF_SECONDS = 10.0
QUIET_ROUNDS = 3
"""So many back-offs in which no pod is placed: none will be."""
MOST_STEPS = 2000
"""Steps of standing waits in a row, about the longest wait for a volume."""


@dataclass(frozen=True, slots=True)
class Use:
    """What the pods on a node request of a resource, and what it has, in milli-cpu, bytes or pieces."""

    requested: int
    allocatable: int

    @property
    def share(self) -> float:
        """The requested share, 0.0 to 1.0; 0.0 where there is nothing."""
        return self.requested / self.allocatable if self.allocatable else 0.0


Uses = Mapping[str, Mapping[str, Use]]
"""Node → resource → use."""


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """What came of a simulation.

    Attributes:
        placed: pod → node.
        pending: pod → why it has no node.
        evicted: pod → node: those that had to make room.
        before: the nodes as they were.
        after: and as they would be.
    """

    placed: Mapping[str, str]
    pending: Mapping[str, str]
    evicted: Mapping[str, str]
    before: Uses
    after: Uses


class ClusterCopy(FakeClient):
    """A cluster's objects in memory, with what kubelets and volume controllers would do done at once."""

    def __init__(self, objects: Iterable[Object], clock: Clock) -> None:
        super().__init__(clock)
        self._latest: dict[GroupVersionResource, int] = {}
        for obj in objects:
            resource = KINDS.get(str(obj.get("kind", "")))
            if resource is not None:
                self.seed(resource, obj)

    def latest(self) -> dict[GroupVersionResource, int]:
        """Return the version of the latest change of each resource."""
        with self.condition:
            return dict(self._latest)

    def _note(self, resource: GroupVersionResource, event: WatchEvent) -> None:
        self._latest[resource] = self._version
        super()._note(resource, event)

    def delete(
        self, resource: GroupVersionResource, name: str, namespace: str = "", *, options: Object | None = None
    ) -> Object:
        """Delete an object at once."""
        return super().delete(resource, name, namespace, options={**(options or {}), "gracePeriodSeconds": 0})

    def patch(
        self,
        resource: GroupVersionResource,
        name: str,
        patch: PatchBody,
        namespace: str = "",
        *,
        patch_type: str = MERGE_PATCH,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        force: bool = False,
    ) -> Object:
        """Change an object; a claim that asks for a volume, or a volume that is given to a claim, is bound."""
        changed = super().patch(resource, name, patch, namespace, patch_type=patch_type, subresource=subresource)
        if resource == PERSISTENT_VOLUME_CLAIMS and annotations_of(changed).get(SELECTED_NODE):
            if not changed["spec"].get("volumeName"):
                made = {"metadata": {"name": f"pvc-{uid_of(changed)}"}, "spec": {"claimRef": {"uid": uid_of(changed)}}}
                self.seed(PERSISTENT_VOLUMES, made)
                self._bind(changed, name_of(made))
        elif resource == PERSISTENT_VOLUMES and changed["spec"].get("claimRef"):
            meant = changed["spec"]["claimRef"]
            claim = self.get(PERSISTENT_VOLUME_CLAIMS, meant["name"], meant["namespace"])
            if not claim["spec"].get("volumeName"):
                self._bind(claim, name)
        return changed

    def _bind(self, claim: Object, volume: str) -> None:
        change = {"metadata": {"annotations": {BIND_COMPLETED: "yes"}}, "spec": {"volumeName": volume}}
        super().patch(PERSISTENT_VOLUME_CLAIMS, name_of(claim), change, namespace_of(claim))


def simulate(
    objects: Sequence[Object], pods: Sequence[Object], flags: Mapping[str, Any], *, seed: int = 1
) -> SimulationResult:
    """Schedule pods on a copy of a cluster.

    Args:
        objects: the cluster, each object with its kind; those of kinds that scheduling does not look at are left out.
            Its pods without a node are scheduled too.
        pods: what is to be scheduled beside these, complete as the API would store them.
        flags: the scheduler's flags by name.
        seed: decides between nodes that score alike.

    Raises:
        UsageError: a flag or the configuration is wrong, or two objects have one name.
    """
    options = SchedulerOptions.in_process(flags)
    named = [*objects, *({**pod, "kind": "Pod"} for pod in pods)]
    _check_distinct(named)
    clock, real = FakeClock(), SystemClock()
    world = ClusterCopy(named, clock)
    before = uses(world.objects(NODES), world.objects(PODS))
    first = {key_of(pod): pod for pod in world.objects(PODS)}
    scheduler = Scheduler(client=world, options=options, clock=clock, random=lambda: Random(seed))  # noqa: S311
    try:
        scheduler.start()
        _settle(scheduler, world, clock, real)
        reasons = {key: _reason(scheduler, pod) for key, pod in first.items()}
    finally:
        scheduler.close()
        real.close()
    left = {key_of(pod): pod for pod in world.objects(PODS)}
    asked = [key for key, pod in first.items() if not _node(pod) and not is_terminal(pod)]
    return SimulationResult(
        placed={key: _node(left[key]) for key in asked if key in left and _node(left[key])},
        pending={key: reasons[key] for key in asked if key in left and not _node(left[key])},
        evicted={key: _node(pod) for key, pod in first.items() if key not in left},
        before=before,
        after=uses(world.objects(NODES), list(left.values())),
    )


def uses(nodes: Iterable[Object], pods: Iterable[Object]) -> dict[str, dict[str, Use]]:
    """Return what is requested of each node, by name, sorted."""
    from hyperkube.kinds.resource_lists import read

    wanted: dict[str, list[Requests]] = {}
    for pod in pods:
        if _node(pod) and not is_terminal(pod):
            wanted.setdefault(_node(pod), []).append(requests_of(pod))
    found: dict[str, dict[str, Use]] = {}
    for node in sorted(nodes, key=name_of):
        has = {name: amount(name, size) for name, size in read(node.get("status", {}).get("allocatable")).items()}
        here = wanted.get(name_of(node), ())
        found[name_of(node)] = {
            resource: Use(sum(each.amounts.get(resource, 0) for each in here), has.get(resource, 0))
            for resource in RESOURCES
        }
    return found


def _check_distinct(objects: Iterable[Object]) -> None:
    seen: set[tuple[str, str]] = set()
    for obj in objects:
        identity = (str(obj.get("kind", "")), key_of(obj))
        if identity in seen and identity[0] in KINDS:
            raise UsageError(f"{identity[0]} {identity[1]!r} is there twice")
        seen.add(identity)


def _settle(scheduler: Scheduler, world: ClusterCopy, clock: FakeClock, real: Clock) -> None:
    """Let the scheduler go on until nothing is under way, and back-offs end without any pod being placed."""
    never, quiet_rounds, steps = threading.Event(), 0, 0
    placed = -1
    while quiet_rounds < QUIET_ROUNDS:
        if not _at_rest(scheduler, world, real, never):
            steps += 1
            if steps > MOST_STEPS:
                return
            clock.advance(STEP_SECONDS)
            continue
        steps = 0
        pending = scheduler.pending()
        if not pending[QueueState.BACKOFF]:
            return
        now = sum(1 for pod in world.objects(PODS) if _node(pod))
        quiet_rounds = quiet_rounds + 1 if now == placed else 0
        placed = now
        clock.advance(BACKOFF_SECONDS)


def _at_rest(scheduler: Scheduler, world: ClusterCopy, real: Clock, never: threading.Event) -> bool:
    """Wait until the scheduler knows all that it did; False: something waits for time to pass."""
    before: object = None
    same = 0
    while same < QUIET_POLLS:
        versions = world.latest()
        seen = scheduler.ready() and scheduler.has_seen(versions)
        counts = scheduler.pending()
        if seen and not counts[QueueState.ACTIVE] and not counts[QueueState.IN_FLIGHT] and versions == world.latest():
            return True
        state = (seen, tuple(counts.items()), tuple(versions.items()))
        binds = bool(counts[QueueState.IN_FLIGHT]) and not counts[QueueState.ACTIVE]
        same = same + 1 if seen and binds and state == before else 0
        before = state
        real.wait(never, POLL_SECONDS)
    return False


def _reason(scheduler: Scheduler, pod: Object) -> str:
    if not scheduler.handles(pod):
        return f"no profile has the scheduler name {pod['spec'].get('schedulerName')!r}"
    said = scheduler.explain(key_of(pod))
    if said is not None:
        return str(said["message"] or "")
    gates = [gate["name"] for gate in pod["spec"].get("schedulingGates") or ()]
    return f"waits for its scheduling gates: {', '.join(gates)}" if gates else "was not tried"


def _node(pod: Object) -> str:
    return str(pod.get("spec", {}).get("nodeName") or "")
