"""Stops containers: preStop hook, then the stop signal, then KILL, all within one grace period.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_container.go`` (killContainer, killContainersWithSyncResult).
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.kuberuntime.termination_order import TerminationOrder
from hyperkube_host.kubelet.lifecycle.handlers import HandlerRunner
from hyperkube_host.kubelet.types.pod_spec import LEAST_GRACE_SECONDS, all_containers_of

from hyperkube.hookspecs.runtime import ContainerNotFound, ContainerStatus, Runtime, RuntimeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object


class ContainerStopper:
    """Stops containers of pods."""

    def __init__(self, runtime: Runtime, hooks: HandlerRunner, recorder: KubeletEventRecorder, clock: Clock) -> None:
        self._runtime = runtime
        self._hooks = hooks
        self._recorder = recorder
        self._clock = clock

    def http_fallbacks(self) -> int:
        """Return how many hooks of containers, also at their start, fell back from HTTPS to HTTP."""
        return self._hooks.http_fallbacks

    def stop(
        self,
        pod: Object,
        container: Object,
        container_id: str,
        address: str,
        grace: float,
        wait_for_turn: Callable[[float], float] = lambda _seconds: 0.0,
    ) -> None:
        """Stop one container; returns when it has ended.

        Args:
            pod: the pod.
            container: one of its containers.
            container_id: of the container in the runtime.
            address: at which a hook reaches the pod.
            grace: the seconds for the hook and the end; without any the hook is left out.
            wait_for_turn: waits at most so many seconds for other containers, and returns how long it took.

        Raises:
            RuntimeFailed: the runtime did not stop it.
        """
        left = grace
        if grace > 0:
            left -= self._pre_stop(pod, container, container_id, address, grace)
        # Whole seconds, as runtimes count: what was begun of one is not lost.
        left -= int(wait_for_turn(left))
        try:
            self._runtime.stop_container(container_id, max(LEAST_GRACE_SECONDS, left))
        except ContainerNotFound:
            return  # it was removed meanwhile

    def _pre_stop(self, pod: Object, container: Object, container_id: str, address: str, grace: float) -> int:
        """Run the hook, if there is one; return the whole seconds it took, at most `grace`.

        One that has not come to an end by then is left alone: it ends with its container.
        """
        if not (container.get("lifecycle") or {}).get("preStop"):
            return 0
        done = threading.Event()

        def run() -> None:
            try:
                if self._hooks.pre_stop(pod, container, container_id, address, grace):
                    self._recorder.container_event(pod, container, "Warning", "FailedPreStopHook", "PreStopHook failed")
            finally:
                done.set()

        begun = self._clock.monotonic()
        threading.Thread(target=run, name="pre-stop-hook", daemon=True).start()
        self._clock.wait(done, grace)
        return int(self._clock.monotonic() - begun)

    def stop_all(self, pod: Object, pod_status: PodStatus, address: str, grace: Callable[[], float]) -> None:
        """Stop the running containers of a pod, each when its turn comes; their hooks run at once.

        Raises:
            RuntimeFailed: a container could not be stopped; the others were.
        """
        order = TerminationOrder(pod, pod_status.running(), self._clock)
        specs = {container["name"]: container for container in all_containers_of(pod)}
        problems: list[RuntimeFailed] = []

        def stop(status: ContainerStatus) -> None:
            container = specs.get(status.name, {"name": status.name})
            text = f"Stopping container {status.name}"
            self._recorder.container_event(pod, container, "Normal", "Killing", text)
            try:
                self.stop(pod, container, status.id, address, grace(), lambda left: order.wait_for_turn(status, left))
            except RuntimeFailed as error:
                problems.append(error)
            finally:
                order.ended(status)

        first, *others = order.containers()
        threads = [threading.Thread(target=stop, args=(status,), name="stop-container") for status in others]
        for thread in threads:
            thread.start()
        stop(first)
        for thread in threads:
            thread.join()
        if problems:
            raise problems[0]

    def shorten_grace_period(self, pod_status: PodStatus, grace: float) -> None:
        """Stop the running containers within `grace` seconds while a stop with a longer grace period is under way."""
        for status in pod_status.running():
            threading.Thread(
                target=self._runtime.stop_container, args=(status.id, grace), name="stop-container", daemon=True
            ).start()
