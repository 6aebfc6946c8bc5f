"""`Layer`: a tar of files with fixed owners and times, so that the same content always has the same digest."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO

_CHUNK = 1 << 20


class Layer:
    """One layer of an image, written to a file while it is filled.

    Parent folders are added as they are needed, each path once: a path that was added before is left as it is.

    Args:
        file: where the tar goes; written from the start.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._tar = tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115  closed by `finish`
        self._paths: set[str] = set()

    def __contains__(self, path: str) -> bool:
        return _inside(path) in self._paths

    def folder(self, path: str, mode: int = 0o755) -> None:
        """Add a folder."""
        self._add(path, tarfile.DIRTYPE, mode)

    def symlink(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self._add(path, tarfile.SYMTYPE, 0o777, link=target)

    def text(self, path: str, content: str, mode: int = 0o644) -> None:
        """Add a file with this content."""
        self.data(path, content.encode(), mode)

    def data(self, path: str, content: bytes, mode: int = 0o644) -> None:
        """Add a file with these bytes."""
        self._add(path, tarfile.REGTYPE, mode, size=len(content), data=io.BytesIO(content))

    def file(self, path: str, source: Path, mode: int | None = None) -> None:
        """Add a copy of a file, with its own permissions unless told otherwise; a symbolic link is followed."""
        found = source.stat()
        with source.open("rb") as data:
            self._add(path, tarfile.REGTYPE, mode or found.st_mode & 0o777, size=found.st_size, data=data)

    def tree(self, path: str, source: Path, skip: frozenset[str] = frozenset()) -> None:
        """Add all that is in a folder; symbolic links stay links.

        Args:
            path: where it goes.
            source: the folder.
            skip: names that are left out, wherever they are.
        """
        self.folder(path)
        for entry in sorted(source.iterdir()):
            if entry.name in skip:
                continue
            target = f"{path}/{entry.name}"
            if entry.is_symlink():
                self.symlink(target, str(entry.readlink()))
            elif entry.is_dir():
                self.tree(target, entry, skip)
            elif entry.is_file():
                self.file(target, entry)

    def finish(self) -> str:
        """Write the end of the tar and return the layer's diff ID, ``sha256:…``; nothing may be added after."""
        self._tar.close()
        self._file.seek(0)
        digest = hashlib.sha256()
        while chunk := self._file.read(_CHUNK):
            digest.update(chunk)
        return f"sha256:{digest.hexdigest()}"

    def _add(
        self, path: str, kind: bytes, mode: int, *, size: int = 0, link: str = "", data: IO[bytes] | None = None
    ) -> None:
        inside = _inside(path)
        if not inside or inside in self._paths:
            return
        parent = str(PurePosixPath(inside).parent)
        if parent != ".":
            self._add(parent, tarfile.DIRTYPE, 0o755)
        self._paths.add(inside)
        info = tarfile.TarInfo(inside)
        info.type, info.mode, info.size, info.linkname = kind, mode, size, link
        self._tar.addfile(info, data)


def _inside(path: str) -> str:
    inside = str(PurePosixPath(path)).strip("/")
    return "" if inside == "." else inside
