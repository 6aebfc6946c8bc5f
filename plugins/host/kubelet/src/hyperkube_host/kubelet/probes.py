"""Liveness, readiness and startup probes: one slow rhythm per probe, each check on a borrowed thread.

Source: kubernetes ``pkg/kubelet/prober/worker.go`` and ``prober.go``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from hyperkube_host.kubelet.checks import Outcome, exec_check, http_check, tcp_check
from hyperkube_host.kubelet.environment import expand
from hyperkube_host.kubelet.observation import Observed
from hyperkube_host.kubelet.plan import containers_of, init_containers_of
from hyperkube_host.kubelet.sayings import Sayings

from hyperkube.client.worker_pool import WorkerPool
from hyperkube.hookspecs.runtime import ContainerStatus, Runtime
from hyperkube.kinds.pods import is_sidecar
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.release import SHORT

KINDS = ("startup", "liveness", "readiness")
AGENT = f"kube-probe/{SHORT}"


@dataclass(slots=True)
class _Probe:
    """One probe of one running container."""

    kind: str
    spec: Object
    pod: Object
    container: Object
    container_id: str
    address: str
    started_at: float
    passed: bool | None
    successes: int = 0
    failures: int = 0


class Probes:
    """Runs probes and knows their results; a container without a probe of a kind passes it."""

    def __init__(
        self, runtime: Runtime, clock: Clock, say: Sayings, changed: Callable[[str], None], *, threads: int = 16
    ) -> None:
        """Call `changed` with a pod's uid when a result turned."""
        self._runtime = runtime
        self._clock = clock
        self._say = say
        self._changed = changed
        self._lock = threading.Lock()
        self._probes: dict[str, _Probe] = {}
        self._known: dict[str, str] = {}
        self._failed: dict[str, str] = {}
        self._pool: WorkerPool[str] = WorkerPool(
            "probe",
            self._check,
            clock=clock,
            workers=threads,
            logger=logging.getLogger("hyperkube.kubelet"),
            backoff=Backoff(initial=1.0, cap=1.0),
        )
        self._pool.begin()

    def follow(self, pod: Object, seen: Observed, address: str) -> None:
        """Begin to probe the containers of a pod that run and are not probed yet."""
        sidecars = [container for container in init_containers_of(pod) if is_sidecar(container)]
        for container in [*containers_of(pod), *sidecars]:
            status = seen.latest(container["name"])
            if status is None:
                continue
            if status.state != "running":
                self.forget(status.id)
            elif status.id not in self._known:
                self._begin(pod, container, status, address)

    def _begin(self, pod: Object, container: Object, status: ContainerStatus, address: str) -> None:
        with self._lock:
            self._known[status.id] = uid_of(pod)
        for kind in KINDS:
            spec = container.get(f"{kind}Probe")
            if not spec:
                continue
            key = f"{status.id}/{kind}"
            probe = _Probe(
                kind, spec, pod, container, status.id, address, status.started_at, kind == "liveness" or None
            )
            with self._lock:
                self._probes[key] = probe
            age = self._clock.now().timestamp() - status.started_at
            self._pool.queue.add_after(key, max(0.0, float(spec.get("initialDelaySeconds") or 0) - age))

    def is_started(self, container_id: str) -> bool:
        """Tell whether a running container has passed its startup probe."""
        with self._lock:
            probe = self._probes.get(f"{container_id}/startup")
            return container_id in self._known and (probe is None or probe.passed is True)

    def is_ready(self, container_id: str) -> bool:
        """Tell whether a running container's readiness probe passes."""
        with self._lock:
            probe = self._probes.get(f"{container_id}/readiness")
            return container_id in self._known and (probe is None or probe.passed is True)

    def failed(self) -> dict[str, str]:
        """Return container id → ``liveness`` or ``startup`` for those to be restarted."""
        return self._failed

    def forget(self, container_id: str) -> None:
        """Stop probing a container."""
        with self._lock:
            if self._known.pop(container_id, None) is None:
                return
            ended = [f"{container_id}/{kind}" for kind in KINDS if self._probes.pop(f"{container_id}/{kind}", None)]
            self._failed = {key: kind for key, kind in self._failed.items() if key != container_id}
        for key in ended:
            self._pool.queue.cancel(key)
            self._pool.queue.forget(key)

    def forget_pod(self, uid: str) -> None:
        """Stop probing a pod."""
        with self._lock:
            ids = [container_id for container_id, owner in self._known.items() if owner == uid]
        for container_id in ids:
            self.forget(container_id)

    def _check(self, key: str) -> None:
        probe = self._probes.get(key)
        if probe is None:
            return
        period = float(probe.spec.get("periodSeconds") or 10)
        if probe.kind == "startup" and probe.passed:
            return
        if probe.kind != "startup" and not self.is_started(probe.container_id):
            self._pool.queue.add_after(key, min(period, 1.0))
            return
        outcome = self._ask(probe)
        if key in self._probes:  # the container may have ended while it was asked
            self._take(probe, outcome)
            self._pool.queue.add_after(key, period)

    def _ask(self, probe: _Probe) -> Outcome:
        timeout = float(probe.spec.get("timeoutSeconds") or 1)
        if "exec" in probe.spec:
            known = {entry["name"]: entry.get("value", "") for entry in probe.container.get("env") or []}
            action = {"command": [expand(word, known) for word in probe.spec["exec"].get("command") or []]}
            return exec_check(self._runtime, self._clock, probe.container_id, action, timeout)
        if "httpGet" in probe.spec:
            return http_check(probe.spec["httpGet"], probe.container, probe.address, timeout, agent=AGENT)
        if "tcpSocket" in probe.spec:
            return tcp_check(probe.spec["tcpSocket"], probe.container, probe.address, timeout)
        if "grpc" in probe.spec:
            return Outcome("error", "grpc probes are not built into this kubelet: use exec, httpGet or tcpSocket")
        return Outcome("error", f"missing probe handler for {probe.container['name']}")

    def _take(self, probe: _Probe, outcome: Outcome) -> None:
        if outcome.result == "error":
            self._tell(probe, f"{probe.kind.capitalize()} probe errored: {outcome.text}")
            return
        good = outcome.result == "success"
        if not good:
            self._tell(probe, f"{probe.kind.capitalize()} probe failed: {outcome.text}")
        with self._lock:
            probe.successes = probe.successes + 1 if good else 0
            probe.failures = 0 if good else probe.failures + 1
            needed = int(probe.spec.get("successThreshold" if good else "failureThreshold") or (1 if good else 3))
            turned = (probe.successes if good else probe.failures) >= needed and probe.passed is not good
            if turned:
                probe.passed = good
                if not good and probe.kind != "readiness":
                    self._failed = {**self._failed, probe.container_id: probe.kind}
        if turned:
            self._changed(uid_of(probe.pod))

    def _tell(self, probe: _Probe, text: str) -> None:
        self._say.container(probe.pod, probe.container, "Warning", "Unhealthy", text)

    def close(self) -> None:
        """Stop all probing."""
        self._pool.stop()
        self._pool.wait_ended(1.0)
