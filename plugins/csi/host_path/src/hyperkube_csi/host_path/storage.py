"""What is on the disk: ``volumes/ID`` and ``snapshots/ID``, each with its ``record.json`` and its ``data``.

Whatever is made is made under a hidden name and renamed, and whatever is deleted is renamed first: a process that is
killed in between leaves nothing that looks whole. Several processes share the folder; a lock file takes turns.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hyperkube_lib.csi import refused

Record = dict[str, Any]
FOLDER, IMAGE = "folder", "image"
_RECORD, _DATA = "record.json", "data"
_MAKING, _DELETING = ".making-", ".deleting-"


class Shelf:
    """The volumes, or the snapshots."""

    def __init__(self, root: Path, kind: str) -> None:
        """Keep them below ``root/kind``."""
        self._folder = root / kind

    def data(self, name: str) -> Path:
        """Return where what is in it lies: a folder or an image."""
        return self._folder / name / _DATA

    def get(self, name: str) -> Record | None:
        """Return its record, None if there is none of that name."""
        if not _is_name(name):
            return None
        try:
            found: Record = json.loads((self._folder / name / _RECORD).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return found

    def all(self) -> dict[str, Record]:
        """Return all records by name, sorted."""
        if not self._folder.is_dir():
            return {}
        names = sorted(path.name for path in self._folder.iterdir() if _is_name(path.name))
        return {name: record for name in names if (record := self.get(name)) is not None}

    def make(self, name: str, record: Mapping[str, Any], fill: Callable[[Path], None]) -> None:
        """Make one, of which `fill` makes the data.

        Raises:
            CsiFailed: the disk is full, or the name cannot be one.
        """
        if not _is_name(name):
            raise refused("INVALID_ARGUMENT", f"{name!r} cannot be a name")
        made = self._folder / f"{_MAKING}{name}"
        try:
            shutil.rmtree(made, ignore_errors=True)  # of an attempt that was broken off
            made.mkdir(parents=True, mode=0o700)
            fill(made / _DATA)
            _write(made / _RECORD, record)
            made.rename(self._folder / name)
        except OSError as error:
            shutil.rmtree(made, ignore_errors=True)
            raise _refusal(error) from error

    def change(self, name: str, record: Mapping[str, Any]) -> None:
        """Replace a record."""
        _write(self._folder / name / _RECORD, record)

    def delete(self, name: str) -> None:
        """Delete one; no error if it is gone."""
        if not _is_name(name):
            return
        going = self._folder / f"{_DELETING}{name}"
        shutil.rmtree(going, ignore_errors=True)
        try:
            (self._folder / name).rename(going)
        except FileNotFoundError:
            return
        shutil.rmtree(going)


class Storage:
    """Volumes and snapshots below one folder."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.volumes = Shelf(root, "volumes")
        self.snapshots = Shelf(root, "snapshots")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other threads and processes from changing anything."""
        self._root.mkdir(parents=True, exist_ok=True)
        with (self._root / "lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def free_bytes(self) -> int:
        """Return how much room there is."""
        self._root.mkdir(parents=True, exist_ok=True)
        return shutil.disk_usage(self._root).free


def make_image(path: Path, size: int) -> None:
    """Make an image of zeros that takes no room yet."""
    path.touch(mode=0o600)
    os.truncate(path, size)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder with owners, modes, times and links."""
    shutil.copytree(source, target, symlinks=True, copy_function=_copy_file)
    for folder, folders, _files in os.walk(source):
        for name in (".", *folders):
            found = Path(folder) / name
            if not found.is_symlink():
                _own_alike(found, target / found.relative_to(source))


def _copy_file(source: str, target: str) -> None:
    shutil.copy2(source, target, follow_symlinks=False)
    _own_alike(Path(source), Path(target))


def _own_alike(source: Path, target: Path) -> None:
    state = source.lstat()
    os.chown(target, state.st_uid, state.st_gid, follow_symlinks=False)


def copy_image(source: Path, target: Path, size: int = 0) -> None:
    """Copy what is in an image, not its holes; make the copy at least `size` bytes long."""
    make_image(target, max(size, source.stat().st_size))
    with source.open("rb") as read, target.open("r+b") as written:
        position = 0
        while True:
            try:
                start = os.lseek(read.fileno(), position, os.SEEK_DATA)
            except OSError:
                break  # ENXIO: only a hole follows
            position = os.lseek(read.fileno(), start, os.SEEK_HOLE)
            while start < position:
                start += _copied(read.fileno(), written.fileno(), start, position - start)
        os.fsync(written.fileno())


def _copied(source: int, target: int, start: int, count: int) -> int:
    data = os.pread(source, min(count, 1 << 20), start)
    os.pwrite(target, data, start)
    return len(data)


def _write(path: Path, record: Mapping[str, Any]) -> None:
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8") as file:
        json.dump(record, file, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    new.rename(path)


def _is_name(name: str) -> bool:
    return bool(name) and "/" not in name and not name.startswith(".")


def _refusal(error: OSError) -> Exception:
    import errno

    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return refused("RESOURCE_EXHAUSTED" if full else "INTERNAL", error.strerror or str(error))
