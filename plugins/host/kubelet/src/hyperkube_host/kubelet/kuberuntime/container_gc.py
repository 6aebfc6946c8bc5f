"""Removes ended containers beyond those that are kept to look at.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_gc.go``, ``pkg/kubelet/container/container_gc.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

from hyperkube_host.kubelet.container.pod_status import PodStatus

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, Runtime, RuntimeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.record import Record

_log = logging.getLogger("hyperkube.kubelet")
_ENDED = (ContainerState.EXITED, ContainerState.CREATED, ContainerState.UNKNOWN)


class ContainerGCPolicy(Record):
    """What is kept.

    Attributes:
        min_age_seconds: how long an ended container stays at least after it was created.
        max_per_pod_container: ended ones kept per container beside the newest; at least one.
        max_containers: ended ones kept in all; negative for no limit.
    """

    min_age_seconds: float = 0.0
    max_per_pod_container: int = 1
    max_containers: int = -1


def containers_to_remove(
    pods: Iterable[Iterable[ContainerStatus]], policy: ContainerGCPolicy, now: float
) -> list[ContainerStatus]:
    """Return the ended containers to remove.

    Args:
        pods: the containers of one name of one pod each, newest first.
        policy: what is kept.
        now: in seconds since the epoch.
    """
    units = []
    for statuses in pods:
        # What the newest says is the state that the pod shows, or the last one before that.
        _newest, *others = statuses
        old = [s for s in others if s.state in _ENDED and now - s.created_at >= policy.min_age_seconds]
        units.append(old)
    removed: list[ContainerStatus] = []
    keep = max(1, policy.max_per_pod_container)
    units = [_trimmed(unit, keep, removed) for unit in units]
    left = sum(map(len, units))
    if 0 <= policy.max_containers < left:
        # Each container keeps its share first; what is still too much goes by age, whosever it is.
        filled = [unit for unit in units if unit]
        share = max(1, policy.max_containers // len(filled))
        rest = sorted(
            chain.from_iterable(_trimmed(unit, share, removed) for unit in filled), key=lambda s: -s.created_at
        )
        removed += rest[policy.max_containers :]
    return removed


def _trimmed(unit: list[ContainerStatus], keep: int, removed: list[ContainerStatus]) -> list[ContainerStatus]:
    removed += unit[keep:]
    return unit[:keep]


class ContainerGC:
    """Removes; a container that is in use again is none that has ended."""

    def __init__(self, policy: ContainerGCPolicy, runtime: Runtime, clock: Clock) -> None:
        self._policy = policy
        self._runtime = runtime
        self._clock = clock

    def collect(self, pods: Mapping[str, PodStatus]) -> None:
        """Remove what is too much of the pods' containers."""
        units = [statuses for pod_status in pods.values() for statuses in pod_status.containers.values()]
        for status in containers_to_remove(units, self._policy, self._clock.now().timestamp()):
            self._remove(status)

    def delete_all_unused(self, pods: Mapping[str, PodStatus]) -> None:
        """Remove all ended containers of pods of which nothing runs: the disk is needed.

        A pod that may go on keeps its newest ones, by which it is told what is to be done.
        """
        nothing = self._policy.replace(min_age_seconds=0.0, max_per_pod_container=1, max_containers=0)
        units = [statuses for pod_status in pods.values() for statuses in pod_status.containers.values()]
        for status in containers_to_remove(units, nothing, self._clock.now().timestamp()):
            self._remove(status)

    def _remove(self, status: ContainerStatus) -> None:
        try:
            # A list of containers need not tell the paths of their logs.
            log_path = status.log_path or self._runtime.container(status.id).log_path
            self._runtime.remove_container(status.id)
        except RuntimeFailed as error:
            _log.warning("cannot remove ended container %s: %s", status.id, error)
            return
        if log_path:
            path = Path(log_path)
            for file in (path, *path.parent.glob(f"{path.name}.*")):
                file.unlink(missing_ok=True)
