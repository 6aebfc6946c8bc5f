"""Runs the probes of all containers on a few threads and knows their results.

Each probe is a key of a work queue with a delay, not a thread of its own: a node has hundreds of probes, and each of
them waits nearly all the time.

Source: kubernetes ``pkg/kubelet/prober/prober_manager.go``, ``worker.go`` and ``prober.go``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence

from hyperkube_host.kubelet.container.expansion import expand
from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.probe.exec_probe import probe_exec
from hyperkube_host.kubelet.probe.result import ProbeOutcome, ProbeResult
from hyperkube_host.kubelet.probe.tcp_probe import probe_tcp
from hyperkube_host.kubelet.prober.probe_type import ProbeType
from hyperkube_host.kubelet.prober.worker import ProbeKey, ProbeWorker
from hyperkube_host.kubelet.types.pod_spec import containers_of, init_containers_of

from hyperkube.client.worker_pool import WorkerPool
from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus, Runtime
from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.release import SHORT

AGENT = f"kube-probe/{SHORT}"
MOST_ATTEMPTS = 3
"""How often a check is made again at once that could not be made."""
STARTUP_POLL_SECONDS = 1.0
"""How often liveness and readiness probes look whether the startup probe has passed."""


class ProbeManager:
    """Runs probes; a container without a probe of a kind passes that kind."""

    def __init__(
        self,
        runtime: Runtime,
        clock: Clock,
        recorder: KubeletEventRecorder,
        changed: Callable[[str], None],
        *,
        threads: int = 16,
    ) -> None:
        """Call `changed` with a pod's uid when the result of one of its probes changed."""
        self._runtime = runtime
        self._clock = clock
        self._recorder = recorder
        self._changed = changed
        self._lock = threading.Lock()
        self._workers: dict[ProbeKey, ProbeWorker] = {}
        self._pod_of: dict[str, str] = {}
        self._failed: Mapping[str, ProbeType] = {}
        self._pool: WorkerPool[ProbeKey] = WorkerPool(
            "probe",
            self._run_probe,
            clock=clock,
            workers=threads,
            logger=logging.getLogger("hyperkube.kubelet"),
            backoff=Backoff(initial=1.0, cap=1.0),
        )
        self._pool.begin()

    def add_pod(self, pod: Object, pod_status: PodStatus, address: str) -> None:
        """Start the probes of the pod's running containers that have none yet, and stop those of ended ones."""
        sidecars = [container for container in init_containers_of(pod) if is_sidecar(container)]
        for container in [*containers_of(pod), *sidecars]:
            status = pod_status.latest(container["name"])
            if status is None:
                continue
            if status.state != ContainerState.RUNNING:
                self.remove_container(status.id)
            elif status.id not in self._pod_of:
                self._add_container(pod, container, status, address)

    def _add_container(self, pod: Object, container: Object, status: ContainerStatus, address: str) -> None:
        age = self._clock.now().timestamp() - status.started_at
        with self._lock:
            # All workers exist before the container counts as probed: with a startup probe it must not count as
            # started in between.
            workers = []
            for probe_type in ProbeType:
                spec = container.get(probe_type.field)
                if spec:
                    passes = True if probe_type is ProbeType.LIVENESS else None
                    key = ProbeKey(status.id, probe_type)
                    worker = ProbeWorker(key, spec, pod, container, address, passes)
                    self._workers[key] = worker
                    workers.append(worker)
            self._pod_of[status.id] = uid_of(pod)
        for worker in workers:
            delay = float(worker.spec.get("initialDelaySeconds") or 0) - age
            self._pool.queue.add_after(worker.key, max(0.0, delay))

    def is_started(self, container_id: str) -> bool:
        """Tell whether a running container has passed its startup probe."""
        return self._passes(container_id, ProbeType.STARTUP)

    def is_ready(self, container_id: str) -> bool:
        """Tell whether a running container passes its readiness probe."""
        return self._passes(container_id, ProbeType.READINESS)

    def _passes(self, container_id: str, probe_type: ProbeType) -> bool:
        with self._lock:
            worker = self._workers.get(ProbeKey(container_id, probe_type))
            return container_id in self._pod_of and (worker is None or worker.passes is True)

    def workers(self) -> Sequence[ProbeWorker]:
        """Return all probes, for the metrics."""
        with self._lock:
            return list(self._workers.values())

    def failed(self) -> Mapping[str, ProbeType]:
        """Return container id → the probe that requires its restart; the mapping returned never changes."""
        return self._failed

    def remove_container(self, container_id: str) -> None:
        """Stop probing a container."""
        with self._lock:
            if self._pod_of.pop(container_id, None) is None:
                return
            keys = [ProbeKey(container_id, probe_type) for probe_type in ProbeType]
            removed = [key for key in keys if self._workers.pop(key, None) is not None]
            self._failed = {key: failed for key, failed in self._failed.items() if key != container_id}
        for key in removed:
            self._pool.queue.cancel(key)
            self._pool.queue.forget(key)

    def remove_pod(self, uid: str) -> None:
        """Stop probing a pod."""
        for container_id in self._ids_of(uid):
            self.remove_container(container_id)

    def stop_liveness_and_startup(self, uid: str) -> None:
        """Stop the probes of a pod that is ending, but those that tell its services whether it still answers."""
        ids = self._ids_of(uid)
        with self._lock:
            stopped = [
                key
                for key in (ProbeKey(container_id, ProbeType.LIVENESS) for container_id in ids)
                if self._workers.pop(key, None) is not None
            ]
            for container_id in ids:
                startup = self._workers.get(ProbeKey(container_id, ProbeType.STARTUP))
                # One that has passed stays: without it nothing would tell that the container has started.
                if startup is not None and not startup.passes:
                    stopped.append(startup.key)
        for key in stopped:
            self._pool.queue.cancel(key)
            self._pool.queue.forget(key)

    def _ids_of(self, uid: str) -> list[str]:
        with self._lock:
            return [container_id for container_id, owner in self._pod_of.items() if owner == uid]

    def _run_probe(self, key: ProbeKey) -> None:
        worker = self._workers.get(key)
        if worker is None:
            return
        if key.type is ProbeType.STARTUP and worker.passes:
            return  # a startup probe ends with its success
        if key.type is not ProbeType.STARTUP and not self.is_started(key.container_id):
            self._pool.queue.add_after(key, min(worker.period_seconds, STARTUP_POLL_SECONDS))
            return
        begun = self._clock.monotonic()
        outcome = self._check(worker)
        for _ in range(MOST_ATTEMPTS - 1):
            if outcome.result is not ProbeResult.ERROR:
                break
            outcome = self._check(worker)
        if outcome.result is ProbeResult.WARNING:
            text = f"{key.type.value.capitalize()} probe warning: {outcome.text}"
            self._recorder.container_event(worker.pod, worker.container, "Warning", "ProbeWarning", text)
            outcome = ProbeOutcome(ProbeResult.SUCCESS, outcome.text)
        worker.measure(outcome.result, self._clock.monotonic() - begun)
        # The check took time and the container may have been removed meanwhile: its key must not come back.
        if key in self._workers:
            self._record(worker, outcome)
            # A container that failed is restarted: a command that ran in it while it stops could harm it.
            if key.type is ProbeType.READINESS or worker.passes is not False:
                self._pool.queue.add_after(key, worker.period_seconds)

    def _check(self, worker: ProbeWorker) -> ProbeOutcome:
        from hyperkube_host.kubelet.probe.http_probe import probe_http

        spec, container, timeout = worker.spec, worker.container, worker.timeout_seconds
        if "exec" in spec:
            known = {entry["name"]: entry.get("value", "") for entry in container.get("env") or []}
            action = {"command": [expand(word, known) for word in spec["exec"].get("command") or []]}
            return probe_exec(self._runtime, self._clock, worker.key.container_id, action, timeout)
        if "httpGet" in spec:
            return probe_http(spec["httpGet"], container, worker.address, timeout, agent=AGENT)
        if "tcpSocket" in spec:
            return probe_tcp(spec["tcpSocket"], container, worker.address, timeout)
        if "grpc" in spec:
            from hyperkube_host.kubelet.probe.grpc_probe import probe_grpc  # few nodes have such probes

            return probe_grpc(spec["grpc"], worker.address, timeout, agent=AGENT)
        return ProbeOutcome(ProbeResult.ERROR, f"missing probe handler for {container['name']}")

    def _record(self, worker: ProbeWorker, outcome: ProbeOutcome) -> None:
        if outcome.result is not ProbeResult.SUCCESS:
            verb = "errored and resulted in unknown state" if outcome.result is ProbeResult.ERROR else "failed"
            text = f"{worker.key.type.value.capitalize()} probe {verb}: {outcome.text}"
            self._recorder.container_event(worker.pod, worker.container, "Warning", "Unhealthy", text)
        with self._lock:
            changed = worker.record(outcome.result)
            if changed and not worker.passes and worker.key.type is not ProbeType.READINESS:
                # Readers hold the mapping without the lock, so it is replaced and never changed.
                self._failed = {**self._failed, worker.key.container_id: worker.key.type}
        if changed:
            self._changed(uid_of(worker.pod))

    def close(self) -> None:
        """Stop all probing."""
        self._pool.stop()
        self._pool.wait_ended(1.0)
