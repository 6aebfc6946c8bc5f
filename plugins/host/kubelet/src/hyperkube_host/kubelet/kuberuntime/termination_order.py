"""The order in which the containers of a pod stop: regular containers at once, then the sidecars, last one first.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_termination_order.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from hyperkube.hookspecs.runtime import ContainerStatus
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object


class TerminationOrder:
    """Lets each container that is being stopped wait until those before it have ended."""

    def __init__(self, pod: Object, running: Iterable[ContainerStatus], clock: Clock) -> None:
        from hyperkube_host.kubelet.kuberuntime.pod_actions import stop_order

        self._clock = clock
        self._steps = stop_order(pod, running)
        self._ended = {status.id: threading.Event() for step in self._steps for status in step}

    def containers(self) -> list[ContainerStatus]:
        """Return all containers, those that stop first at the beginning."""
        return [status for step in self._steps for status in step]

    def wait_for_turn(self, status: ContainerStatus, seconds: float) -> float:
        """Wait until all that stop before a container have ended, at most so long; return how long it took."""
        begun = self._clock.monotonic()
        for step in self._steps:
            if status in step:
                break
            for before in step:
                left = seconds - (self._clock.monotonic() - begun)
                if left <= 0 or not self._clock.wait(self._ended[before.id], left):
                    return self._clock.monotonic() - begun
        return self._clock.monotonic() - begun

    def ended(self, status: ContainerStatus) -> None:
        """Note that a container has ended, or that its stop failed: nothing waits for it any more."""
        self._ended[status.id].set()
