"""Admits a pod if its CPUs, memory and devices can come from NUMA nodes that its policy accepts, and allocates them.

Sources: kubernetes ``pkg/kubelet/cm/topologymanager/topology_manager.go``, ``scope*.go``, ``policy_*.go``.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from hyperkube_host.kubelet.cm.admission import AllocationFailed
from hyperkube_host.kubelet.cm.topologymanager.hints import (
    NumaInfo,
    ResourceHints,
    TopologyHint,
    filter_hints,
    merge_hints,
)

from hyperkube.kinds.pods import spec_of
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.record import Record

NONE, BEST_EFFORT, RESTRICTED, SINGLE_NUMA_NODE = "none", "best-effort", "restricted", "single-numa-node"
POLICIES = (NONE, BEST_EFFORT, RESTRICTED, SINGLE_NUMA_NODE)
CONTAINER_SCOPE, POD_SCOPE = "container", "pod"
SCOPES = (CONTAINER_SCOPE, POD_SCOPE)
MAX_ALLOWABLE_NUMA_NODES = 8
PREFER_CLOSEST, MAX_NODES = "prefer-closest-numa-nodes", "max-allowable-numa-nodes"
OPTIONS = (PREFER_CLOSEST, MAX_NODES)
ANYWHERE = TopologyHint(None, preferred=True)


class HintProvider(Protocol):
    """A manager of one kind of resource: CPUs, memory, devices."""

    def topology_hints(self, pod: Object, container: Object) -> ResourceHints:
        """Return where a container's resources could come from."""

    def pod_topology_hints(self, pod: Object) -> ResourceHints:
        """Return where the resources of all containers of a pod could come from together."""

    def allocate(self, pod: Object, container: Object) -> None:
        """Give a container its resources, from the nodes of its affinity if possible; idempotent.

        Raises:
            AllocationFailed: there are too few.
        """


class PolicyProvider(ABC):
    """Offers what a policy decides, to several threads; without a policy it offers and gives nothing."""

    def __init__(self, policy: HintProvider | None) -> None:
        self._policy_provider = policy
        self._lock = threading.RLock()
        self.pinning_requests = 0
        """How often a container was to have something for itself alone."""
        self.pinning_errors = 0

    @abstractmethod
    def pins(self, pod: Object, container: Object) -> bool:
        """Tell whether a container is to have something for itself alone, under the policy."""

    def allocate(self, pod: Object, container: Object) -> None:
        """See `HintProvider`."""
        if self._policy_provider is not None:
            with self._lock:
                pins = self.pins(pod, container)
                self.pinning_requests += pins
                try:
                    self._policy_provider.allocate(pod, container)
                except AllocationFailed:
                    self.pinning_errors += pins
                    raise

    def topology_hints(self, pod: Object, container: Object) -> ResourceHints:
        """See `HintProvider`."""
        if self._policy_provider is None:
            return {}
        with self._lock:
            return self._policy_provider.topology_hints(pod, container)

    def pod_topology_hints(self, pod: Object) -> ResourceHints:
        """See `HintProvider`."""
        if self._policy_provider is None:
            return {}
        with self._lock:
            return self._policy_provider.pod_topology_hints(pod)


class TopologyOptions(Record):
    """How resources are aligned."""

    policy: str = NONE
    scope: str = CONTAINER_SCOPE
    prefer_closest: bool = False
    max_numa_nodes: int = MAX_ALLOWABLE_NUMA_NODES

    @classmethod
    def of(cls, policy: str, scope: str, options: Mapping[str, str]) -> TopologyOptions:
        """Return the options that flags make.

        Raises:
            UsageError: an unknown policy, scope or option, or a value that cannot be.
        """
        if policy not in POLICIES:
            raise UsageError(f'unknown policy: "{policy}"')
        if scope not in SCOPES:
            raise UsageError(f'unknown scope: "{scope}"')
        for name in options:
            if name not in OPTIONS:
                raise UsageError(f'unknown Topology Manager Policy option: "{name}"')
        closest = options.get(PREFER_CLOSEST, "false").lower()
        if closest not in {"true", "false"}:
            raise UsageError(f'bad value for option "{PREFER_CLOSEST}": {closest!r} is neither true nor false')
        most = options.get(MAX_NODES, str(MAX_ALLOWABLE_NUMA_NODES))
        if not most.isdigit():
            raise UsageError(f'unable to convert policy option to integer "{MAX_NODES}": {most!r}')
        if int(most) < MAX_ALLOWABLE_NUMA_NODES:
            least = f"the minimum value of {MAX_NODES!r} should be {MAX_ALLOWABLE_NUMA_NODES}"
            raise UsageError(f"{least}, got {most}")
        return cls(policy=policy, scope=scope, prefer_closest=closest == "true", max_numa_nodes=int(most))


class TopologyManager:
    """Merges the hints of all managers, and remembers the result for when they allocate."""

    def __init__(self, options: TopologyOptions, numa: NumaInfo) -> None:
        """Take how resources are aligned, and the machine's NUMA nodes.

        Raises:
            UsageError: more nodes than a policy can weigh in reasonable time.
        """
        if options.policy != NONE and len(numa.nodes) > options.max_numa_nodes:
            raise UsageError(
                f"unsupported on machines with more than {options.max_numa_nodes} NUMA Nodes:"
                f" policy {options.policy!r}, {len(numa.nodes)} nodes"
            )
        self.options = options
        self._numa = numa
        self._providers: list[HintProvider] = []
        self._hints: dict[tuple[str, str], TopologyHint] = {}
        self.admission_requests = 0
        self.admission_errors = 0

    def add_provider(self, provider: HintProvider) -> None:
        """Ask one more manager."""
        self._providers.append(provider)

    def affinity(self, uid: str, container: str) -> TopologyHint:
        """Return where a container's resources are to come from."""
        return self._hints.get((uid, container), ANYWHERE)

    def forget(self, uids: set[str]) -> None:
        """Forget all pods but those."""
        self._hints = {key: hint for key, hint in self._hints.items() if key[0] in uids}

    def admit(self, pod: Object) -> None:
        """Allocate for all containers of a pod.

        Raises:
            AllocationFailed: the policy refuses, or a manager has too little.
        """
        self.admission_requests += 1
        try:
            self._admit(pod)
        except AllocationFailed:
            self.admission_errors += 1
            raise

    def _admit(self, pod: Object) -> None:
        if self.options.policy == NONE:
            for container in all_containers(pod):
                self._allocate(pod, container)
            return
        whole = self._accepted(self._pod_hints(pod)) if self.options.scope == POD_SCOPE else None
        for container in all_containers(pod):
            hint = whole or self._accepted([provider.topology_hints(pod, container) for provider in self._providers])
            self._hints[uid_of(pod), container["name"]] = hint
            self._allocate(pod, container)

    def _pod_hints(self, pod: Object) -> list[ResourceHints]:
        return [provider.pod_topology_hints(pod) for provider in self._providers]

    def _accepted(self, hints: Sequence[ResourceHints]) -> TopologyHint:
        best, admitted = merge_by_policy(self.options, self._numa, hints)
        if not admitted:
            message = "Resources cannot be allocated with Topology locality"
            raise AllocationFailed(message, "TopologyAffinityError")
        return best

    def _allocate(self, pod: Object, container: Object) -> None:
        for provider in self._providers:
            provider.allocate(pod, container)


def merge_by_policy(
    options: TopologyOptions, numa: NumaInfo, hints: Sequence[ResourceHints]
) -> tuple[TopologyHint, bool]:
    """Return the best hint by a policy, and whether it admits the pod."""
    filtered = filter_hints(hints)
    if options.policy != SINGLE_NUMA_NODE:
        best = merge_hints(numa, filtered, prefer_closest=options.prefer_closest)
        return best, best.preferred or options.policy != RESTRICTED
    single = [
        [hint for hint in of_resource if hint.preferred and (hint.nodes is None or len(hint.nodes) == 1)]
        for of_resource in filtered
    ]
    best = merge_hints(numa, single)
    if best.nodes == numa.all_nodes:
        best = TopologyHint(None, best.preferred)
    return best, best.preferred


def all_containers(pod: Object) -> Iterator[Object]:
    """Yield the containers that are admitted with the pod, in the order in which they get their resources."""
    yield from spec_of(pod).get("initContainers") or ()
    yield from spec_of(pod).get("containers") or ()
