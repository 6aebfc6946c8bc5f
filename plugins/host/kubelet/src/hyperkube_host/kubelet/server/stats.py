"""What node and pods use: the summary API and the metrics that metrics-server reads.

Sources: kubernetes ``staging/src/k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go`` and
``pkg/kubelet/metrics/collectors/resource_metrics.go``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from hyperkube.hookspecs.runtime import ContainerStatus, ContainerUsage, Runtime, SandboxStatus
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time

_NANO = 1_000_000_000
_PROC = Path("/proc")


class NodeUsage(NamedTuple):
    """What the whole machine uses: CPU since its start in nanoseconds, memory in bytes, and when it started."""

    cpu_nanoseconds: int
    memory: int
    available_memory: int
    started_at: float


def node_usage(proc: Path = _PROC) -> NodeUsage:
    """Read what the kernel counts; waiting for input and output is no use of CPU."""
    lines = [line.split() for line in (proc / "stat").read_text().splitlines()]
    counted = {words[0]: words[1:] for words in lines}
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, counted["cpu"][:8])
    busy = (user + nice + system + irq + softirq + steal) * _NANO // os.sysconf("SC_CLK_TCK")
    lines = [line.split() for line in (proc / "meminfo").read_text().splitlines()]
    memory = {words[0]: int(words[1]) * 1024 for words in lines}
    available = memory["MemAvailable:"]
    return NodeUsage(busy, memory["MemTotal:"] - available, available, float(counted["btime"][0]))


class Statistics:
    """Measures on demand; rates are over the time since the measurement before, or since the start."""

    def __init__(self, runtime: Runtime, clock: Clock, node_name: str) -> None:
        self._runtime = runtime
        self._clock = clock
        self._node_name = node_name
        self._lock = threading.Lock()
        self._before: dict[str, tuple[float, int]] = {}

    def _rate(self, key: str, nanoseconds: int, started_at: float) -> int:
        """Return the nano-cores used since the last call for `key`; since its start, the first time."""
        now = self._clock.monotonic()
        started = now - max(0.0, self._clock.now().timestamp() - started_at)
        with self._lock:
            then, before = self._before.get(key, (started, 0))
            if now - then >= 1.0 or key not in self._before:
                self._before[key] = (now, nanoseconds)
        return max(0, int((nanoseconds - before) / (now - then))) if now > then else 0

    def _cpu_memory(self, key: str, nanoseconds: int, memory: int, started_at: float) -> Object:
        time = format_time(self._clock.now())
        return {
            "cpu": {
                "time": time,
                "usageNanoCores": self._rate(key, nanoseconds, started_at),
                "usageCoreNanoSeconds": nanoseconds,
            },
            "memory": {"time": time, "usageBytes": memory, "workingSetBytes": memory, "rssBytes": memory},
        }

    def _running(self) -> Iterator[tuple[SandboxStatus, list[tuple[ContainerStatus, ContainerUsage]]]]:
        usage = {entry.id: entry for entry in self._runtime.usage()}
        members: dict[str, list[tuple[ContainerStatus, ContainerUsage]]] = {}
        for status in self._runtime.containers():
            if status.id in usage:
                members.setdefault(status.sandbox_id, []).append((status, usage[status.id]))
        for sandbox in self._runtime.sandboxes():
            if sandbox.ready:
                yield sandbox, members.get(sandbox.id, [])

    def summary(self) -> Object:
        """Return the body of ``/stats/summary``."""
        cpu, used, available, boot = node_usage()
        node = {
            "nodeName": self._node_name,
            "startTime": format_time(datetime.fromtimestamp(boot, UTC)),
            **self._cpu_memory("node", cpu, used, boot),
        }
        node["memory"]["availableBytes"] = available
        return {"node": node, "pods": [self._pod(sandbox, members) for sandbox, members in self._running()]}

    def _pod(self, sandbox: SandboxStatus, members: Iterable[tuple[ContainerStatus, ContainerUsage]]) -> Object:
        containers = [
            {
                "name": status.name,
                "startTime": format_time(datetime.fromtimestamp(status.started_at, UTC)),
                **self._cpu_memory(status.id, usage.cpu_nanoseconds, usage.memory_bytes, status.started_at),
            }
            for status, usage in members
        ]
        total_cpu = sum(usage.cpu_nanoseconds for _, usage in members)
        total_memory = sum(usage.memory_bytes for _, usage in members)
        return {
            "podRef": {"name": sandbox.name, "namespace": sandbox.namespace, "uid": sandbox.uid},
            "startTime": format_time(datetime.fromtimestamp(sandbox.created_at, UTC)),
            "containers": containers,
            **self._cpu_memory(sandbox.uid, total_cpu, total_memory, sandbox.created_at),
        }

    def resource_metrics(self) -> str:
        """Return the body of ``/metrics/resource``."""
        cpu, used, _, _ = node_usage()
        found = list(self._running())
        lines = [
            "# TYPE node_cpu_usage_seconds_total counter",
            f"node_cpu_usage_seconds_total {cpu / _NANO}",
            "# TYPE node_memory_working_set_bytes gauge",
            f"node_memory_working_set_bytes {used}",
        ]
        for kind in ("container", "pod"):
            cpu_lines, memory_lines = [], []
            for sandbox, members in found:
                where = f'namespace="{sandbox.namespace}",pod="{sandbox.name}"'
                rows = [(f'container="{s.name}",{where}', u.cpu_nanoseconds, u.memory_bytes) for s, u in members]
                if kind == "pod":
                    rows = [(where, sum(row[1] for row in rows), sum(row[2] for row in rows))]
                cpu_lines += [f"{kind}_cpu_usage_seconds_total{{{row[0]}}} {row[1] / _NANO}" for row in rows]
                memory_lines += [f"{kind}_memory_working_set_bytes{{{row[0]}}} {row[2]}" for row in rows]
            lines += [f"# TYPE {kind}_cpu_usage_seconds_total counter", *cpu_lines]
            lines += [f"# TYPE {kind}_memory_working_set_bytes gauge", *memory_lines]
        return "\n".join([*lines, "# TYPE resource_scrape_error gauge", "resource_scrape_error 0", ""])

    def metrics(self) -> str:
        """Return the body of ``/metrics``."""
        states: dict[str, int] = {}
        for status in self._runtime.containers():
            states[status.state] = states.get(status.state, 0) + 1
        pods = sum(sandbox.ready for sandbox in self._runtime.sandboxes())
        lines = [
            "# HELP kubelet_node_name The node's name. The count is always 1.",
            "# TYPE kubelet_node_name gauge",
            f'kubelet_node_name{{node="{self._node_name}"}} 1',
            "# HELP kubelet_running_pods Number of pods that have a running pod sandbox",
            "# TYPE kubelet_running_pods gauge",
            f"kubelet_running_pods {pods}",
            "# HELP kubelet_running_containers Number of containers currently running",
            "# TYPE kubelet_running_containers gauge",
            *(f'kubelet_running_containers{{container_state="{state}"}} {n}' for state, n in sorted(states.items())),
        ]
        return "\n".join([*lines, ""])
