"""What is known of a container lies in its folder: ``spec.json`` from the kubelet, ``status.json`` from its watcher.

::

    ROOT/events.sock             where watchers tell the kubelet of changes
    ROOT/sandboxes/ID.json       one record per sandbox
    ROOT/containers/ID/          spec.json, status.json, shim.sock, lock, rootfs/ (working folder, links to the volumes)
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hyperkube_runtime.process.shim import identity

from hyperkube.hookspecs.runtime import ContainerSpec, ContainerState, ContainerStatus, SandboxSpec, SandboxStatus

KILLED = 137
LOST = "the container's watcher ended without a report, and the container with it"
REBOOTED = "the machine was restarted"


def write_json(path: Path, content: object) -> None:
    """Replace a file atomically; readable by its owner only."""
    fresh = path.with_name(path.name + ".tmp")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        json.dump(content, out)
    fresh.replace(path)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content


@dataclass(slots=True)
class SandboxRecord:
    """A sandbox as it is kept on disk."""

    id: str
    namespace: str
    name: str
    uid: str
    attempt: int
    hostname: str
    log_directory: str
    created_at: float
    boot: str
    ready: bool = True
    ips: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, sandbox_id: str, spec: SandboxSpec, created_at: float) -> SandboxRecord:
        """Return the record of a new sandbox."""
        return cls(
            sandbox_id, spec.namespace, spec.name, spec.uid, spec.attempt, spec.hostname, spec.log_directory,
            created_at, identity.boot_id(), labels=dict(spec.labels), annotations=dict(spec.annotations),
        )  # fmt: skip

    def status(self) -> SandboxStatus:
        """Return it as the kubelet sees it."""
        return SandboxStatus(
            id=self.id,
            namespace=self.namespace,
            name=self.name,
            uid=self.uid,
            attempt=self.attempt,
            ready=self.ready,
            created_at=self.created_at,
            ips=tuple(self.ips),
            labels=self.labels,
            annotations=self.annotations,
        )

    def save(self, folder: Path) -> None:
        """Write it down."""
        write_json(folder / f"{self.id}.json", asdict(self))


def load_sandboxes(folder: Path) -> list[SandboxRecord]:
    """Return the sandboxes of earlier runs; those of before a restart of the machine are not ready any more."""
    boot = identity.boot_id()
    records = [SandboxRecord(**raw) for path in sorted(folder.glob("*.json")) if (raw := _read_json(path))]
    for record in records:
        record.ready = record.ready and record.boot == boot
    return records


class ContainerRecord:
    """A container: what was asked for, and what its watcher last wrote."""

    def __init__(self, folder: Path, spec: dict[str, Any]) -> None:
        self.folder = folder
        self.spec = spec
        self.id = str(spec["id"])
        self.sandbox_id = str(spec["sandbox"])
        self.note: dict[str, Any] = {}
        self.refresh()

    @classmethod
    def load(cls, folder: Path) -> ContainerRecord | None:
        """Return the container of an earlier run, or None for a folder that was only begun."""
        spec = _read_json(folder / "spec.json")
        return cls(folder, spec) if spec else None

    def refresh(self) -> None:
        """Read the watcher's note again; a container whose watcher is gone without a note of its end was killed."""
        note = _read_json(self.folder / "status.json")
        if note and "exit_code" not in note:
            rebooted = note["boot"] != identity.boot_id()
            if rebooted or identity.start_time(note["shim_pid"]) != note["shim_start"]:
                note = _read_json(self.folder / "status.json")  # the watcher writes its note before it ends
                if "exit_code" not in note:
                    why = REBOOTED if rebooted else LOST
                    note |= {"exit_code": KILLED, "finished_at": 0.0, "reason": "Error", "message": why}
        self.note = note

    @property
    def state(self) -> ContainerState:
        """Whether it was created, runs, or has exited."""
        if not self.note:
            return ContainerState.CREATED
        return ContainerState.EXITED if "exit_code" in self.note else ContainerState.RUNNING

    def status(self) -> ContainerStatus:
        """Return it as the kubelet sees it."""
        note = self.note
        code = int(note.get("exit_code", 0))
        reason = (
            str(note.get("reason") or ("Completed" if code == 0 else "Error"))
            if self.state is ContainerState.EXITED
            else ""
        )
        return ContainerStatus(
            id=self.id,
            sandbox_id=self.sandbox_id,
            name=self.spec["name"],
            attempt=self.spec["attempt"],
            state=self.state,
            image=self.spec["image"],
            image_id="host",
            created_at=self.spec["created_at"],
            started_at=note.get("started_at", 0.0),
            finished_at=note.get("finished_at")
            or (note.get("started_at", 0.0) if self.state is ContainerState.EXITED else 0.0),
            exit_code=code,
            reason=reason,
            message=note.get("message", ""),
            log_path=self.spec["log"],
            labels=self.spec["labels"],
            annotations=self.spec["annotations"],
        )

    def remove(self) -> None:
        """Delete the folder; links in it are not followed."""
        shutil.rmtree(self.folder, ignore_errors=True)


def prepare_container(folder: Path, spec: ContainerSpec, settled: dict[str, Any]) -> ContainerRecord:
    """Make the folder of a new container: its working folder, links to its volumes, its log's folder, its spec.

    Args:
        folder: to be made; its name is the container's id.
        spec: what the kubelet wants.
        settled: the parts of the spec file that the runtime decided (argv, env, user, …).
    """
    rootfs = folder / "rootfs"
    rootfs.mkdir(parents=True, mode=0o755)
    (folder / "newroot").mkdir(mode=0o755)
    folder.chmod(0o711 if settled.get("user") is not None else 0o700)
    for mount in sorted(spec.mounts, key=lambda mount: mount.container_path):
        link = rootfs / mount.container_path.lstrip("/")
        if not os.path.lexists(link):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(mount.host_path)
    Path(settled["log"]).parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    content: dict[str, Any] = {
        "id": folder.name,
        "name": spec.name,
        "attempt": spec.attempt,
        "image": spec.image,
        "labels": dict(spec.labels),
        "annotations": dict(spec.annotations),
        "mounts": [
            [mount.host_path, mount.container_path, mount.read_only]
            for mount in sorted(spec.mounts, key=lambda mount: mount.container_path)
        ],
        "scratch": str(folder / "newroot"),
        "stdin": spec.stdin,
        "stdin_once": spec.stdin_once,
        "tty": spec.tty,
        **settled,
    }
    write_json(folder / "spec.json", content)
    return ContainerRecord(folder, content)
