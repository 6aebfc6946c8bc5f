"""Stopping containers: preStop hook, then TERM, then KILL, all within one grace period."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hyperkube_host.kubelet.lifecycle_hooks import Hooks
from hyperkube_host.kubelet.observation import Observed
from hyperkube_host.kubelet.plan import every_container_of, killing_order
from hyperkube_host.kubelet.pod_entry import LEAST_GRACE
from hyperkube_host.kubelet.sayings import Sayings

from hyperkube.hookspecs.runtime import ContainerStatus, Runtime
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object


class ContainerStopper:
    """Stops containers of pods."""

    def __init__(self, runtime: Runtime, hooks: Hooks, say: Sayings, clock: Clock) -> None:
        self._runtime = runtime
        self._hooks = hooks
        self._say = say
        self._clock = clock

    def stop(self, pod: Object, container: Object, container_id: str, address: str, grace: float) -> None:
        """Stop one container; returns when it has ended."""
        begun = self._clock.monotonic()
        problem = self._hooks.pre_stop(pod, container, container_id, address, grace)
        if problem:
            self._say.container(pod, container, "Warning", "FailedPreStopHook", "PreStopHook failed")
        left = grace - (self._clock.monotonic() - begun)
        self._runtime.stop_container(container_id, max(LEAST_GRACE, left))

    def stop_all(self, pod: Object, seen: Observed, address: str, grace: Callable[[], float]) -> None:
        """Stop what runs of a pod: the regular containers at once, then the sidecars in reverse order."""
        begun = self._clock.monotonic()
        specs = {container["name"]: container for container in every_container_of(pod)}
        for step in killing_order(pod, seen.running()):
            left = max(LEAST_GRACE, grace() - (self._clock.monotonic() - begun))
            threads = [
                threading.Thread(target=self._stop, args=(pod, specs, status, address, left), name="stop-container")
                for status in step[1:]
            ]
            for thread in threads:
                thread.start()
            self._stop(pod, specs, step[0], address, left)
            for thread in threads:
                thread.join()

    def _stop(self, pod: Object, specs: dict[str, Object], status: ContainerStatus, address: str, grace: float) -> None:
        container = specs.get(status.name, {"name": status.name})
        self._say.container(pod, container, "Normal", "Killing", f"Stopping container {status.name}")
        self.stop(pod, container, status.id, address, grace)

    def hurry(self, seen: Observed, grace: float) -> None:
        """Shorten the grace period of a stop that is under way."""
        for status in seen.running():
            threading.Thread(
                target=self._runtime.stop_container, args=(status.id, grace), name="stop-container", daemon=True
            ).start()
