"""Rotates the logs of containers by size, and packs those that were rotated before.

The log that is written to is renamed, and its writer told to open a fresh one. It stays as it is until the next
rotation, as something may still be reading it; the older ones are packed.

Source: kubernetes ``pkg/kubelet/logs/container_log_manager.go``.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hyperkube.hookspecs.runtime import ContainerNotFound, ContainerStatus, Runtime, RuntimeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.record import Record

PACKED, TEMPORARY = ".gz", ".tmp"
STAMP = "%Y%m%d-%H%M%S"
_log = logging.getLogger("hyperkube.kubelet")


class LogRotationPolicy(Record):
    """``containerLogMaxSize``, ``containerLogMaxFiles`` (at least 2) and ``containerLogMaxWorkers``."""

    max_bytes: int = 10 << 20
    max_files: int = 5
    workers: int = 1


class ContainerLogManager:
    """Rotates; one round at a time."""

    def __init__(self, policy: LogRotationPolicy, runtime: Runtime, clock: Clock) -> None:
        self._policy = policy
        self._runtime = runtime
        self._clock = clock
        self._paths: dict[str, str] = {}

    def rotate_logs(self, running: Iterable[ContainerStatus]) -> None:
        """Rotate the logs of these containers that are too large."""
        # A container's log stays where it is, and asking for each every time is most of what an idle node does.
        self._paths = {status.id: self._paths.get(status.id) or self._path(status) for status in running}
        large = [(known, Path(path)) for known, path in self._paths.items() if path and self._is_large(Path(path))]
        if self._policy.workers > 1 and len(large) > 1:
            with ThreadPoolExecutor(self._policy.workers, thread_name_prefix="log-rotation") as pool:
                list(pool.map(self._rotate, *zip(*large, strict=True)))
            return
        for known, path in large:
            self._rotate(known, path)

    def _path(self, status: ContainerStatus) -> str:
        """Return the path of a container's log, which a list of containers need not tell; empty if it is not known."""
        try:
            return status.log_path or self._runtime.container(status.id).log_path
        except RuntimeFailed:
            return ""  # it is gone, or is looked at in the next round

    def _is_large(self, path: Path) -> bool:
        try:
            # Where a link leads to the log, the runtime keeps and rotates it elsewhere: Docker does.
            return not path.is_symlink() and path.stat().st_size >= self._policy.max_bytes
        except OSError:
            return False  # it has written nothing yet, or is gone

    def _rotate(self, container_id: str, path: Path) -> None:
        try:
            tidy(path, self._policy.max_files)
            rotated = path.with_name(f"{path.name}.{self._clock.now().strftime(STAMP)}")
            path.rename(rotated)
        except OSError as error:
            _log.warning("cannot rotate the log of container %s: %s", container_id, error)
            return
        try:
            self._runtime.reopen_log(container_id)
        except ContainerNotFound:
            return  # it ended meanwhile; its log is complete
        except RuntimeFailed as error:
            # It goes on writing to the old file: that gets its name back, so that nothing is lost or hidden.
            _log.warning("cannot reopen the log of container %s: %s", container_id, error)
            rotated.rename(path)


def tidy(path: Path, max_files: int) -> None:
    """Drop what an interrupted round has left and the oldest logs, and pack the others.

    So many stay that there are `max_files` once the log itself is rotated: a fresh one, and that.
    """
    rotated = []
    for file in sorted(path.parent.glob(f"{path.name}.*")):
        packed = file.with_name(file.name + PACKED)
        if file.suffix == TEMPORARY or packed.exists():
            file.unlink(missing_ok=True)  # half packed, or packed already
        else:
            rotated.append(file)
    for file in rotated[: max(0, len(rotated) - max(0, max_files - 2))]:
        file.unlink(missing_ok=True)
        rotated.remove(file)
    for file in rotated:
        if file.suffix != PACKED:
            _pack(file)


def _pack(file: Path) -> None:
    """Pack a file; the packed one appears whole, with the rights of the other."""
    import gzip

    temporary = file.with_name(file.name + TEMPORARY)
    with file.open("rb") as source, gzip.open(temporary, "wb") as target:
        shutil.copyfileobj(source, target)
    temporary.chmod(file.stat().st_mode & 0o777)
    temporary.rename(file.with_name(file.name + PACKED))
    file.unlink()
