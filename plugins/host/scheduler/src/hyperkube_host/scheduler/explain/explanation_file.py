"""Decisions on disk, so that a scheduler that starts anew still knows them: two files that replace each other.

A file is a row of frames: a pod's key, and what the decision on it was, packed and compressed with its checksum. The
nodes' names, which many decisions share, have frames of their own. When a file is full it becomes ``FILE.old``, in
place of the one before. A frame that was cut short by a crash ends the reading of its file.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import orjson

from hyperkube.machinery.objects import NodeName

if TYPE_CHECKING:
    from hyperkube_host.scheduler.framework.schedule_result import ScheduleResult

LIMIT_BYTES = 8_000_000
_HEAD = struct.Struct(">HI")
"""Bytes of the key, bytes of the packed body."""
_NAMES = ""
"""The key of frames with nodes' names."""
_FAST = 1
Names = tuple[NodeName, ...]


class ExplanationFile:
    """Appends decisions, and finds the latest on a pod; one thread at a time may append."""

    def __init__(self, path: Path, limit_bytes: int = LIMIT_BYTES) -> None:
        self._path = path
        self._old = path.with_name(f"{path.name}.old")
        self._limit = limit_bytes
        self._names: Names | None = None

    def append(self, decisions: Iterable[tuple[str, ScheduleResult]]) -> None:
        """Write decisions, each with its pod's key.

        Raises:
            OSError: they cannot be written.
        """
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self._opened()
        try:
            for key, decision in decisions:
                if file.tell() > self._limit:
                    file.close()
                    self._path.replace(self._old)
                    self._names = None
                    file = self._opened()
                if decision.trace.names != self._names:
                    self._names = decision.trace.names
                    file.write(_frame(_NAMES, orjson.dumps(self._names)))
                file.write(_frame(key, packed(decision)))
        finally:
            file.close()

    def find(self, key: str) -> ScheduleResult | None:
        """Return the latest decision on a pod, None if none is kept."""
        for path in (self._path, self._old):
            latest: tuple[Names, bytes] | None = None
            names: Names = ()
            for found, body in _frames(path):
                if found == _NAMES:
                    names = tuple(NodeName(name) for name in orjson.loads(zlib.decompress(body)))
                elif found == key:
                    latest = (names, body)
            if latest is not None:
                return unpacked(latest[0], zlib.decompress(latest[1]))
        return None

    def _opened(self) -> BinaryIO:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        file = os.fdopen(descriptor, "ab")
        if self._names is None and file.tell():
            whole = sum(_HEAD.size + len(key.encode()) + len(body) for key, body in _frames(self._path))
            file.truncate(whole)  # a crash may have cut the last frame short
        return file


def packed(decision: ScheduleResult) -> bytes:
    """Return a decision as bytes, without the nodes' names."""
    head, arrays = decision.trace.parts()
    first = orjson.dumps({**head, "node": decision.node, "text": decision.text})
    return len(first).to_bytes(4, "big") + first + b"".join(arrays)


def unpacked(names: Names, data: bytes) -> ScheduleResult:
    """Return the decision that `packed` made bytes of."""
    from hyperkube_host.scheduler.framework.schedule_result import Diagnosis, ScheduleResult

    size = 4 + int.from_bytes(data[:4], "big")
    head = orjson.loads(data[4:size])
    decision = ScheduleResult(head["node"], Diagnosis.of_parts(names, head, data[size:]))
    decision.text = head["text"]
    return decision


def _frame(key: str, body: bytes) -> bytes:
    name, small = key.encode(), zlib.compress(body, _FAST)
    return _HEAD.pack(len(name), len(small)) + name + small


def _frames(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield keys and compressed bodies, up to a frame that is not whole."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    position = 0
    while position + _HEAD.size <= len(data):
        length, size = _HEAD.unpack_from(data, position)
        start = position + _HEAD.size
        position = start + length + size
        if position > len(data):
            return
        yield data[start : start + length].decode(), data[start + length : position]
