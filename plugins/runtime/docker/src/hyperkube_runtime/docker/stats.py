"""Docker's figures as CRI's messages. Source: kubernetes ``pkg/kubelet/dockershim/docker_stats_linux.go``."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from hyperkube_runtime.docker.engine import Json
from hyperkube_runtime.docker.statuses import moment

from hyperkube.hookspecs.runtime import Config, ContainerStatus, SandboxStatus

_NANO = 1_000_000_000


def container_stats(status: ContainerStatus, told: Json, writable_bytes: int, docker_root: str) -> dict[str, Any]:
    """Return the ``ContainerStats`` of a running container.

    Args:
        status: the container.
        told: Docker's answer about it.
        writable_bytes: what it has written into its own layer.
        docker_root: the folder of the layers.
    """
    memory = told.get("memory_stats") or {}
    parts = memory.get("stats") or {}
    used = int(memory.get("usage") or 0)
    # Of version 1 of cgroups the figures with children, of version 2 the plain names are these.
    inactive = int(parts.get("total_inactive_file", parts.get("inactive_file", 0)))
    time = int(moment(told.get("read", "")) * _NANO)
    figures = {
        "working_set_bytes": max(0, used - inactive),
        "usage_bytes": used,
        "rss_bytes": int(parts.get("total_rss", parts.get("anon", 0))),
        "page_faults": int(parts.get("pgfault", 0)),
        "major_page_faults": int(parts.get("pgmajfault", 0)),
    }
    return {
        "attributes": {
            "id": status.id,
            "metadata": {"name": status.name, **({"attempt": status.attempt} if status.attempt else {})},
            "labels": dict(status.labels),
            "annotations": dict(status.annotations),
        },
        "cpu": {"timestamp": time, "usage_core_nano_seconds": _value(_cpu(told))},
        "memory": {"timestamp": time, **{name: _value(number) for name, number in figures.items()}},
        "writable_layer": {
            "timestamp": time,
            "fs_id": {"mountpoint": docker_root},
            "used_bytes": _value(writable_bytes),
        },
    }


def _cpu(told: Json) -> int:
    return int(((told.get("cpu_stats") or {}).get("cpu_usage") or {}).get("total_usage") or 0)


def _value(figure: int) -> dict[str, int]:
    return {"value": figure}


def figure(stats: Config, part: str, field: str) -> int:
    """Return a figure of a ``ContainerStats``."""
    return int(stats.get(part, {}).get(field, {}).get("value", 0))


def sandbox_stats(status: SandboxStatus, told: Json, members: Sequence[Config]) -> dict[str, Any]:
    """Return the ``PodSandboxStats`` of a sandbox: its network, and the sums of its containers.

    Args:
        status: the sandbox.
        told: Docker's answer about its own container.
        members: the ``ContainerStats`` of its containers.
    """
    time = int(moment(told.get("read", "")) * _NANO)
    cpu = sum(figure(one, "cpu", "usage_core_nano_seconds") for one in members)
    memory = ("working_set_bytes", "usage_bytes", "rss_bytes")
    linux: dict[str, Any] = {
        "cpu": {"timestamp": time, "usage_core_nano_seconds": _value(cpu)},
        "memory": {
            "timestamp": time,
            **{field: _value(sum(figure(one, "memory", field) for one in members)) for field in memory},
        },
        "containers": list(members),
    }
    interfaces = [_interface(name, row) for name, row in sorted((told.get("networks") or {}).items())]
    if interfaces:
        default = next((one for one in interfaces if one["name"] == "eth0"), interfaces[0])
        linux["network"] = {"timestamp": time, "default_interface": default, "interfaces": interfaces}
    return {
        "attributes": {
            "id": status.id,
            "metadata": {"name": status.name, "namespace": status.namespace, "uid": status.uid},
            "labels": dict(status.labels),
            "annotations": dict(status.annotations),
        },
        "linux": linux,
    }


def _interface(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    fields = ("rx_bytes", "rx_errors", "tx_bytes", "tx_errors")
    return {"name": name, **{field: _value(int(row.get(field) or 0)) for field in fields}}


def image_fs_info(docker_root: str, image_bytes: int, now: datetime) -> dict[str, Any]:
    """Return the ``ImageFsInfoResponse``: images and layers are below one folder."""
    row = {
        "timestamp": int(now.timestamp() * _NANO),
        "fs_id": {"mountpoint": docker_root},
        "used_bytes": _value(image_bytes),
    }
    return {"image_filesystems": [row], "container_filesystems": [{**row, "used_bytes": _value(_used(docker_root))}]}


def _used(folder: str) -> int:
    """Return the used bytes of the file system of a folder, 0 where it cannot be seen from here."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def by_sandbox(statuses: Iterable[ContainerStatus], stats: Iterable[Config]) -> dict[str, list[Config]]:
    """Return sandbox id → the figures of its containers."""
    owners = {status.id: status.sandbox_id for status in statuses}
    rows = sorted(stats, key=lambda one: owners.get(one["attributes"]["id"], ""))
    grouped = itertools.groupby(rows, key=lambda one: owners.get(one["attributes"]["id"], ""))
    return {sandbox: list(members) for sandbox, members in grouped}
