"""What is known of sandboxes and containers is stored in files, so that it outlives the kubelet.

::

    ROOT/events.sock             where shims report changes to the kubelet
    ROOT/sandboxes/ID.json       one record per sandbox
    ROOT/containers/ID/          spec.json, status.json, shim.sock, lock, rootfs/ (working folder, links to the volumes)
"""

from __future__ import annotations

import json
import os
import platform
import posixpath
import shutil
from dataclasses import asdict, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperkube_runtime.process.shim import identity
from hyperkube_runtime.process.shim.files import SPEC, SpecFile, StatusFile, read_spec, read_status, write_file
from hyperkube_runtime.process.user import ProcessUser

from hyperkube.hookspecs.runtime import Config, ContainerState, ContainerStatus, SandboxStatus
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.record import Record

if TYPE_CHECKING:
    from hyperkube_runtime.process.confinement import Confinement

KILLED = 137
SHIM_LOST = "the container's shim ended without a report, and the container with it"
REBOOTED = "the machine was restarted"


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content


def namespace_options(config: Config) -> Config:
    """Return the ``NamespaceOption`` of a sandbox or container."""
    found: Config = config.get("linux", {}).get("security_context", {}).get("namespace_options", {})
    return found


@dataclass(slots=True)
class SandboxRecord:
    """A sandbox as it is stored."""

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
    host_network: bool = False
    ips: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, sandbox_id: str, config: Config, created_at: float) -> SandboxRecord:
        """Return the record of a new sandbox."""
        metadata = config["metadata"]
        return cls(
            id=sandbox_id,
            namespace=metadata["namespace"],
            name=metadata["name"],
            uid=metadata["uid"],
            attempt=metadata.get("attempt", 0),
            # On the network of the node the kubelet leaves the name to the node.
            hostname=config.get("hostname") or platform.node(),
            log_directory=config.get("log_directory", ""),
            created_at=created_at,
            boot=identity.boot_id(),
            host_network=namespace_options(config).get("network") == "NODE",
            labels=dict(config.get("labels", {})),
            annotations=dict(config.get("annotations", {})),
        )

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
            host_network=self.host_network,
            labels=self.labels,
            annotations=self.annotations,
        )

    def save(self, folder: Path) -> None:
        """Write it to its file, replacing that atomically."""
        path = folder / f"{self.id}.json"
        fresh = path.with_name(path.name + ".tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        with os.fdopen(os.open(fresh, flags, 0o600), "w", encoding="utf-8") as out:
            json.dump(asdict(self), out)
        fresh.replace(path)


def load_sandboxes(folder: Path) -> list[SandboxRecord]:
    """Return the sandboxes of earlier runs; those from before a restart of the machine are not ready any more."""
    boot = identity.boot_id()
    records = [SandboxRecord(**raw) for path in sorted(folder.glob("*.json")) if (raw := _read(path))]
    for record in records:
        record.ready = record.ready and record.boot == boot
    return records


class ContainerRecord:
    """A container: its spec, and the status that its shim last wrote."""

    def __init__(self, folder: Path, spec: SpecFile) -> None:
        self.folder = folder
        self.spec = spec
        self.id = spec.id
        self.sandbox_id = spec.sandbox
        self.reported = self._read_status()

    @classmethod
    def load(cls, folder: Path) -> ContainerRecord | None:
        """Return the container of an earlier run, or None for a folder whose creation was interrupted."""
        spec = read_spec(str(folder))
        return None if spec is None else cls(folder, spec)

    def refresh(self) -> None:
        """Read the shim's status again."""
        self.reported = self._read_status()

    def _read_status(self) -> StatusFile | None:
        """Return the status; a container whose shim is gone without having recorded its end was killed."""
        status = read_status(str(self.folder))
        if status is None or status.exit_code is not None:
            return status
        rebooted = status.boot != identity.boot_id()
        if not rebooted and identity.start_time(status.shim_pid) == status.shim_start:
            return status
        # The shim may have written the end of its container and ended between the two looks above.
        status = read_status(str(self.folder)) or status
        if status.exit_code is not None:
            return status
        message = REBOOTED if rebooted else SHIM_LOST
        return status._replace(exit_code=KILLED, reason="Error", message=message)

    @property
    def state(self) -> ContainerState:
        """Whether it was created, runs, or has exited."""
        if self.reported is None:
            return ContainerState.CREATED
        return ContainerState.RUNNING if self.reported.exit_code is None else ContainerState.EXITED

    @property
    def shim_pid(self) -> int:
        """The pid of its shim, 0 when it was never started."""
        return 0 if self.reported is None else self.reported.shim_pid

    def status(self) -> ContainerStatus:
        """Return it as the kubelet sees it."""
        spec, reported = self.spec, self.reported
        started_at = finished_at = 0.0
        code, reason, message = 0, "", ""
        if reported is not None:
            started_at, message = reported.started_at, reported.message
            if reported.exit_code is not None:
                code = reported.exit_code
                finished_at = reported.finished_at or started_at
                reason = reported.reason or ("Completed" if code == 0 else "Error")
        return ContainerStatus(
            id=self.id,
            sandbox_id=self.sandbox_id,
            name=spec.name,
            attempt=spec.attempt,
            state=self.state,
            image=spec.image,
            image_id="host",
            created_at=spec.created_at,
            started_at=started_at,
            finished_at=finished_at,
            exit_code=code,
            reason=reason,
            message=message,
            log_path=spec.log,
            labels=spec.labels,
            annotations=spec.annotations,
        )

    def remove(self) -> None:
        """Delete the folder and what is left of its control groups; links in the folder are not followed."""
        if self.spec.memory_limit or self.spec.cpu_limit:
            from hyperkube_runtime.process.shim import cgroups

            cgroups.remove_left(self.id, cgroups.usable())
        shutil.rmtree(self.folder, ignore_errors=True)


class ProcessSettings(Record):
    """What the runtime decides about a container, beside what the kubelet asks for.

    Attributes:
        user: None to stay who the runtime is.
        network_namespace: the path of the sandbox's, empty for the node's.
        events: the folder with the socket that changes are reported to.
    """

    sandbox: SandboxRecord
    env: list[tuple[str, str]]
    user: ProcessUser | None
    confinement: Confinement
    namespaces: bool
    events: str
    created_at: float
    network_namespace: str = ""


def image_name(config: Config) -> str:
    """Return the image of a container as its pod names it."""
    image = config["image"]
    return str(image.get("user_specified_image") or image["image"])


def create_container_folder(folder: Path, config: Config, settings: ProcessSettings) -> ContainerRecord:
    """Create the folder of a new container: its working folder, links to its volumes, its log's folder, its spec.

    Args:
        folder: its name is the container's id.
        config: what the kubelet asks for, a ``ContainerConfig``.
        settings: what the runtime decided.
    """
    rootfs, scratch = folder / "rootfs", folder / "newroot"
    rootfs.mkdir(parents=True, mode=0o755)
    scratch.mkdir(mode=0o755)
    user = settings.user
    folder.chmod(0o700 if user is None else 0o711)
    mounts = sorted(
        (path_in_container(mount["container_path"]), mount.get("host_path", ""), mount.get("readonly", False))
        for mount in config.get("mounts", ())
    )
    for path, host_path, _ in mounts:
        _link(rootfs, path, host_path)
    log = Path(settings.sandbox.log_directory) / config.get("log_path", "")
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    content = _confined(
        SpecFile(
            id=folder.name,
            sandbox=settings.sandbox.id,
            name=config["metadata"]["name"],
            attempt=config["metadata"].get("attempt", 0),
            image=image_name(config),
            argv=[*config.get("command", ()), *config.get("args", ())],
            env=settings.env,
            cwd=config.get("working_dir") or str(rootfs),
            own_cwd=not config.get("working_dir"),
            log=str(log),
            hostname=settings.sandbox.hostname,
            events=settings.events,
            created_at=settings.created_at,
            labels=dict(config.get("labels", {})),
            annotations=dict(config.get("annotations", {})),
            mounts=[(host_path, path, read_only) for path, host_path, read_only in mounts],
            scratch=str(scratch),
            namespaces=settings.namespaces,
            stdin=config.get("stdin", False),
            stdin_once=config.get("stdin_once", False),
            tty=config.get("tty", False),
        ),
        config,
        settings,
    )
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        write_file(descriptor, SPEC, content)
    finally:
        os.close(descriptor)
    if user is not None:
        os.chown(rootfs, user.user, user.group)
    return ContainerRecord(folder, content)


def _confined(spec: SpecFile, config: Config, settings: ProcessSettings) -> SpecFile:
    """Return a spec with who the container's process is, and what it may see and use."""
    user, confined = settings.user, settings.confinement
    return spec._replace(
        user=None if user is None else user.user,
        group=None if user is None else user.group,
        groups=None if user is None else list(user.groups),
        no_new_privileges=confined.no_new_privileges,
        capabilities=None if confined.capabilities is None else list(confined.capabilities),
        read_only_root=confined.read_only_root,
        memory_limit=confined.memory,
        cpu_limit=confined.cpu,
        network_namespace=settings.network_namespace,
        pid_namespace=bool(settings.network_namespace) and namespace_options(config).get("pid") == "CONTAINER",
    )


def path_in_container(path: str) -> str:
    """Return a mount path without ``..`` and doubled slashes: like the root itself, it has nothing above it."""
    return posixpath.normpath("/" + path.lstrip("/"))


def _link(rootfs: Path, path: str, host_path: str) -> None:
    """Link to a volume at its mount path below `rootfs`, unless that lies in another volume, which is left alone."""
    *folders, name = path.lstrip("/").split("/")
    here = rootfs
    for folder in folders:
        here /= folder
        if here.is_symlink():
            return
        here.mkdir(exist_ok=True)
    if name and not os.path.lexists(here / name):
        (here / name).symlink_to(host_path)
