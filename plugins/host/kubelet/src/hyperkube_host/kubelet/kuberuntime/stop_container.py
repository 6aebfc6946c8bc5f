"""Stops containers: preStop hook, then TERM, then KILL, all within one grace period.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container.go`` (killContainer, killContainersWithSyncResult).
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.kuberuntime.pod_actions import stop_order
from hyperkube_host.kubelet.lifecycle.handlers import HandlerRunner
from hyperkube_host.kubelet.types.pod_spec import LEAST_GRACE_SECONDS, all_containers_of

from hyperkube.hookspecs.runtime import ContainerStatus, Runtime
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object


class ContainerStopper:
    """Stops containers of pods."""

    def __init__(self, runtime: Runtime, hooks: HandlerRunner, recorder: KubeletEventRecorder, clock: Clock) -> None:
        self._runtime = runtime
        self._hooks = hooks
        self._recorder = recorder
        self._clock = clock

    def stop(self, pod: Object, container: Object, container_id: str, address: str, grace: float) -> None:
        """Stop one container; returns when it has ended."""
        begun = self._clock.monotonic()
        problem = self._hooks.pre_stop(pod, container, container_id, address, grace)
        if problem:
            self._recorder.container_event(pod, container, "Warning", "FailedPreStopHook", "PreStopHook failed")
        left = grace - (self._clock.monotonic() - begun)
        self._runtime.stop_container(container_id, max(LEAST_GRACE_SECONDS, left))

    def stop_all(self, pod: Object, pod_status: PodStatus, address: str, grace: Callable[[], float]) -> None:
        """Stop the running containers of a pod: the regular containers at once, then the sidecars in reverse order."""
        begun = self._clock.monotonic()
        specs = {container["name"]: container for container in all_containers_of(pod)}
        for step in stop_order(pod, pod_status.running()):
            left = max(LEAST_GRACE_SECONDS, grace() - (self._clock.monotonic() - begun))
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
        self._recorder.container_event(pod, container, "Normal", "Killing", f"Stopping container {status.name}")
        self.stop(pod, container, status.id, address, grace)

    def shorten_grace_period(self, pod_status: PodStatus, grace: float) -> None:
        """Stop the running containers within `grace` seconds while a stop with a longer grace period is under way."""
        for status in pod_status.running():
            threading.Thread(
                target=self._runtime.stop_container, args=(status.id, grace), name="stop-container", daemon=True
            ).start()
