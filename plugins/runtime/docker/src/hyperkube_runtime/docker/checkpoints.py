"""What is remembered of sandboxes beside Docker.

A sandbox whose container was removed behind the kubelet's back still has a network to take down.

::

    ROOT/sandbox/ID    {"version": "v1", "name": …, "namespace": …, "data": {"port_mappings": […], …}, "checksum": …}

A dockershim reads these files, and what a dockershim left is read. Beyond its fields ``data`` has the addresses, which
networks of Kubernetes were asked for by looking into the namespace, and more; that has a checksum of its own.

Source: kubernetes ``pkg/kubelet/dockershim/docker_checkpoint.go``, ``pkg/kubelet/checkpointmanager/checksum``.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from hyperkube.hookspecs.runtime import Config
from hyperkube.kinds.workloads import fnv32a
from hyperkube.machinery.dataclass import dataclass

VERSION = "v1"
_log = logging.getLogger("hyperkube.docker")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxCheckpoint:
    """A sandbox as it is remembered; `port_mappings` are CRI's ``PortMapping``."""

    name: str
    namespace: str
    uid: str = ""
    host_network: bool = False
    port_mappings: Sequence[Config] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    dns: Config = field(default_factory=dict)
    ips: Sequence[str] = ()

    @classmethod
    def of(cls, config: Config) -> SandboxCheckpoint:
        """Return that of a new sandbox."""
        metadata = config["metadata"]
        options = config.get("linux", {}).get("security_context", {}).get("namespace_options", {})
        return cls(
            name=metadata["name"],
            namespace=metadata.get("namespace", ""),
            uid=metadata.get("uid", ""),
            host_network=options.get("network") == "NODE",
            port_mappings=tuple(one for one in config.get("port_mappings", ()) if one.get("host_port")),
            annotations=dict(config.get("annotations", {})),
            dns=config.get("dns_config", {}),
        )


class SandboxCheckpoints:
    """The checkpoints below a folder, all of them in memory; may be used from several threads."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "sandbox"
        self._lock = threading.Lock()
        self._known: dict[str, SandboxCheckpoint] = {}

    def load(self) -> None:
        """Make the folder, and read what an earlier run left there; files that make no sense are removed.

        Raises:
            OSError: the folder cannot be made or read.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path in sorted(self._folder.iterdir()):
            found = None if path.name.startswith(".") else _read(path)
            if found is None:
                path.unlink()
            else:
                self._known[path.name] = found

    def write(self, sandbox_id: str, checkpoint: SandboxCheckpoint) -> None:
        """Remember a sandbox; a crash leaves the old checkpoint or the new one."""
        data = {
            "uid": checkpoint.uid,
            "host_network": checkpoint.host_network,
            "port_mappings": [_remembered_port(one) for one in checkpoint.port_mappings],
            "annotations": dict(checkpoint.annotations),
            "dns": dict(checkpoint.dns),
            "ips": list(checkpoint.ips),
        }
        content = {
            "version": VERSION,
            "name": checkpoint.name,
            "namespace": checkpoint.namespace,
            "data": data,
            "checksum": fnv32a(printed_as_go(data).encode()),
            "data_checksum": _checksum(data),
        }
        fresh = self._folder / f".{sandbox_id}"
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._folder / sandbox_id)
        with self._lock:
            self._known[sandbox_id] = checkpoint

    def read(self, sandbox_id: str) -> SandboxCheckpoint | None:
        """Return what is remembered of a sandbox, None for nothing."""
        with self._lock:
            return self._known.get(sandbox_id)

    def remove(self, sandbox_id: str) -> None:
        """Forget a sandbox; nothing happens to one that is not known."""
        with self._lock:
            self._known.pop(sandbox_id, None)
        (self._folder / sandbox_id).unlink(missing_ok=True)

    def all(self) -> dict[str, SandboxCheckpoint]:
        """Return sandbox id → what is remembered."""
        with self._lock:
            return dict(self._known)


def _read(path: Path) -> SandboxCheckpoint | None:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        data = content["data"]
        _check(content, data)
        return SandboxCheckpoint(
            name=content["name"],
            namespace=content["namespace"],
            uid=data.get("uid", ""),
            host_network=bool(data.get("host_network")),
            port_mappings=tuple(map(_mapping, data.get("port_mappings") or ())),
            annotations=data.get("annotations", {}),
            dns=data.get("dns", {}),
            ips=tuple(data.get("ips", ())),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        _log.warning("checkpoint %s is corrupted and removed: %s", path, error)
        return None


def _check(content: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """Compare the checksums; a dockershim's file has but its own.

    Raises:
        ValueError: the file was changed, or written half.
    """
    whole = content.get("data_checksum")
    if content["checksum"] != fnv32a(printed_as_go(data).encode()) or whole not in {None, _checksum(data)}:
        raise ValueError("checkpoint is corrupted")


def _checksum(data: Mapping[str, Any]) -> int:
    return fnv32a(json.dumps(data, sort_keys=True, separators=(",", ":")).encode())


def printed_as_go(data: Mapping[str, Any]) -> str:
    """Return what of a checkpoint the dockershim knows as Go's spew prints its ``CheckpointData`` (``%#v``)."""
    ports = data.get("port_mappings") or ()
    shown = f"[{' '.join(map(_port_as_go, ports))}]" if ports else "<nil>"
    host = "true" if data.get("host_network") else "false"
    return f"(dockershim.CheckpointData){{PortMappings:([]*dockershim.PortMapping){shown} HostNetwork:(bool){host}}}"


def _port_as_go(port: Mapping[str, Any]) -> str:
    numbers = [
        f"{name}:(*int32){port[member]}" if member in port else f"{name}:(*int32)<nil>"
        for name, member in (("ContainerPort", "container_port"), ("HostPort", "host_port"))
    ]
    protocol = f"(*dockershim.Protocol){port.get('protocol', '<nil>')}"
    return f"<*>{{Protocol:{protocol} {' '.join(numbers)} HostIP:(string){port.get('host_ip', '')}}}"


def _remembered_port(mapping: Config) -> dict[str, Any]:
    """Return CRI's ``PortMapping`` as the dockershim writes it."""
    made = {
        "protocol": str(mapping.get("protocol", "TCP")).lower(),
        "container_port": mapping.get("container_port", 0),
        "host_port": mapping.get("host_port", 0),
    }
    return made | ({"host_ip": mapping["host_ip"]} if mapping.get("host_ip") else {})


def _mapping(port: Mapping[str, Any]) -> Config:
    return {**port, "protocol": str(port.get("protocol", "tcp")).upper()}
