"""The two files by which runtime and shim exchange what is known of a container.

``spec.json`` is written by the runtime before the container starts, ``status.json`` by the shim when the container
starts and when it ends. Both outlive either process.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

SPEC, STATUS = "spec.json", "status.json"
PROBE = b"?"
"""What the fork server is sent in place of a folder, to ask whether containers get private views here."""


class SpecFile(NamedTuple):
    """What to start.

    Attributes:
        sandbox: the id of its sandbox.
        log: the path of its log.
        env: (name, value) pairs.
        mounts: (source, target, read only) in the order in which they are mounted.
        scratch: an empty folder, for a new root.
        namespaces: whether to try to mount the volumes in namespaces of its own.
        events: the folder with the socket that changes are reported to.
        user, group, groups: None to stay who the runtime is.
        own_cwd, no_new_privileges, capabilities: see `program.Program`.
        read_only_root: whether everything but the volumes is read-only.
        network_namespace: the path of the namespace of its sandbox; empty for the node's.
        pid_namespace: whether it is alone with its processes.
        memory_limit, cpu_limit: in bytes and in thousandths of a CPU, 0 for none.
    """

    id: str
    sandbox: str
    name: str
    attempt: int
    image: str
    argv: list[str]
    env: list[tuple[str, str]]
    cwd: str
    log: str
    hostname: str
    events: str
    created_at: float
    labels: dict[str, str]
    annotations: dict[str, str]
    mounts: list[tuple[str, str, bool]]
    scratch: str
    namespaces: bool
    stdin: bool
    stdin_once: bool
    tty: bool
    user: int | None = None
    group: int | None = None
    groups: list[int] | None = None
    own_cwd: bool = False
    no_new_privileges: bool = False
    capabilities: list[int] | None = None
    read_only_root: bool = False
    memory_limit: int = 0
    cpu_limit: int = 0
    network_namespace: str = ""
    pid_namespace: bool = False


class StatusFile(NamedTuple):
    """How a container is.

    Attributes:
        boot: the id of the machine's boot in which it was started.
        shim_pid, shim_start: the shim and its start time in clock ticks; 0 when the container was never started.
        view: ``private`` when its volumes are mounted at their mount paths, else ``shared``.
        exit_code: None while it runs.
    """

    boot: str
    started_at: float
    shim_pid: int = 0
    shim_start: int = 0
    pid: int = 0
    view: str = "shared"
    exit_code: int | None = None
    finished_at: float = 0.0
    reason: str = ""
    message: str = ""


def write_file(folder: int, name: str, content: SpecFile | StatusFile) -> None:
    """Replace a file in the folder of that descriptor atomically; readable by its owner only."""
    fresh = name + ".new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    with os.fdopen(os.open(fresh, flags, 0o600, dir_fd=folder), "w", encoding="utf-8") as out:
        json.dump(content._asdict(), out)
    os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)


def read_spec(path: str) -> SpecFile | None:
    """Return the spec in a container's folder, None when there is none."""
    found = _read(f"{path}/{SPEC}")
    return SpecFile(**found) if found else None


def read_status(path: str) -> StatusFile | None:
    """Return the status in a container's folder, None before its start."""
    found = _read(f"{path}/{STATUS}")
    return StatusFile(**found) if found else None


def _read(path: str) -> dict[str, Any]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return {}
    with os.fdopen(descriptor, encoding="utf-8") as source:
        try:
            content: dict[str, Any] = json.load(source)
        except ValueError:
            return {}  # an earlier run was interrupted in the middle of it
    return content
