"""Writes the archive of a process (see `lean_archive`): its name is the argument, paths of sources are on its input.

Objects are compared as `marshal` has written them, so that what is one object afterwards was equal byte by byte: 1 and
1.0, or 0.0 and -0.0, stay two. Qualified names of functions are left out. Source of the format: CPython
``Python/marshal.c``, version 4, as Python 3.11 to 3.13 write it; of what it holds else no archive is written, nor where
the result would not read as the same codes.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import SourceFileLoader
from inspect import CO_OPTIMIZED
from types import CodeType

from hyperkube_lib.component_base.lean_archive import MAGIC, header
from hyperkube_lib.component_base.lean_bytecode import lean_content
from hyperkube_lib.component_base.lean_compiler import is_alone_at_idle_priority

_FLAG_REF = 0x80
_REF, _CODE, _LONG = ord("r"), ord("c"), ord("l")
_SINGLETONS = frozenset(b"NTFS.")
_NUMBERS = {ord("i"): 4, ord("g"): 8, ord("y"): 16}
_TEXTS = {**dict.fromkeys(b"sutaA", 4), **dict.fromkeys(b"zZ", 1)}
"""Of texts and bytes: how many bytes tell the length."""
_SEQUENCES = {**dict.fromkeys(b"(>", 4), ord(")"): 1}
_CODE_NUMBERS, _CODE_OBJECTS, _LINE_NUMBER = 20, (8, 2), 4
"""A code is five numbers, eight objects, the number of its first line, and two objects more."""
_FLAGS = 16
"""The first byte of the last of its numbers."""
_CONSTANTS, _NAME = 1, 6
"""Which of its objects are the constants and the name. The qualified name comes next, is a text of its own for each
method, and only shown in messages about wrong arguments: a function gets its name for it."""


class Constants:
    """Objects of many streams, each of which has a number; equal ones have the same.

    Attributes:
        objects: of each its type, what it says of itself, and the numbers of its parts.
        uses: of each, of how many others it is a part.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.objects: list[tuple[int, bytes, tuple[int, ...]]] = []
        self.uses: list[int] = []
        self._numbers: dict[tuple[int, bytes, tuple[int, ...]], int] = {}

    def number(self, kind: int, content: bytes, parts: tuple[int, ...]) -> int:
        """Return the number of an object, which may be new."""
        row = (kind, content, parts)
        found = self._numbers.setdefault(row, len(self.objects))
        if found == len(self.objects):
            self.objects.append(row)
            self.uses.append(0)
            for part in parts:
                self.uses[part] += 1
        return found

    def sequence(self, parts: list[int]) -> int:
        """Return the number of a tuple."""
        return self.number(ord("("), len(parts).to_bytes(4, "little"), tuple(parts))

    def of(self, stream: bytes) -> int:
        """Return the number of the first object of a stream of `marshal`.

        Raises:
            ValueError: a type in it is not known.
            IndexError: it is cut off.
        """
        return _Reader(self, stream).read()

    def functions(self, code: int) -> Iterator[int]:
        """Yield the codes of functions in that of a module or a class, but for those inside of others."""
        for part in self.objects[self.objects[code][2][_CONSTANTS]][2]:
            kind, content, _ = self.objects[part]
            if kind == _CODE and content[_FLAGS] & CO_OPTIMIZED:
                yield part
            elif kind == _CODE:
                yield from self.functions(part)

    def stream(self, root: int) -> bytes:
        """Return an object as `marshal` reads it, each of its parts once."""
        out = bytearray()
        self._write(root, out, {})
        return bytes(out)

    def _write(self, number: int, out: bytearray, places: dict[int, int]) -> None:
        if number in places:
            out += bytes((_REF,)) + places[number].to_bytes(4, "little")
            return
        kind, content, parts = self.objects[number]
        is_kept = self.uses[number] > 1 and kind not in _SINGLETONS
        if is_kept:
            places[number] = len(places)
        out.append(kind | _FLAG_REF if is_kept else kind)
        first, line = (_CODE_NUMBERS, _CODE_OBJECTS[0]) if kind == _CODE else (len(content), len(parts))
        out += content[:first]
        for part in parts[:line]:
            self._write(part, out, places)
        out += content[first:]
        for part in parts[line:]:
            self._write(part, out, places)


class _Reader:
    """Reads one stream; `places` are the objects in it that others may refer to."""

    def __init__(self, constants: Constants, stream: bytes) -> None:
        self._constants = constants
        self._stream = stream
        self._at = 0
        self._places: list[int] = []

    def read(self) -> int:
        kind = self._stream[self._at]
        self._at += 1
        if kind == _REF:
            return self._places[int.from_bytes(self._take(4), "little")]
        is_kept, kind = kind & _FLAG_REF, kind & ~_FLAG_REF
        place = len(self._places)
        if is_kept:
            self._places.append(-1)  # its place is before those of its parts
        number = self._constants.number(kind, *self._content(kind))
        if is_kept:
            self._places[place] = number
        return number

    def _content(self, kind: int) -> tuple[bytes, tuple[int, ...]]:
        """Return the bytes of an object but for those of its parts, and the numbers of these."""
        if kind in _SINGLETONS:
            return b"", ()
        if kind in _NUMBERS:
            return self._take(_NUMBERS[kind]), ()
        if kind == _CODE:
            numbers, parts = self._take(_CODE_NUMBERS), self._parts(_CODE_OBJECTS[0])
            parts = (*parts[: _NAME + 1], parts[_NAME], *parts[_NAME + 2 :])
            return numbers + self._take(_LINE_NUMBER), parts + self._parts(_CODE_OBJECTS[1])
        size = self._take(_TEXTS.get(kind) or _SEQUENCES.get(kind) or 4)
        length = int.from_bytes(size, "little", signed=kind == _LONG)
        if kind in _TEXTS:
            return size + self._take(length), ()
        if kind in _SEQUENCES:
            return size, self._parts(length)
        if kind == _LONG:
            return size + self._take(2 * abs(length)), ()
        raise ValueError(f"type {chr(kind)!r} of marshal is not known")

    def _parts(self, count: int) -> tuple[int, ...]:
        return tuple(self.read() for _ in range(count))

    def _take(self, count: int) -> bytes:
        taken = self._stream[self._at : self._at + count]
        self._at += count
        return taken


def archive(paths: Iterable[str]) -> bytes:
    """Return the archive of the sources at `paths` that have lean bytecode.

    The codes of functions, which stay, come ahead of those of modules and classes, which go when these are made: else
    what is left of the latter would be holes between the former.

    Raises:
        ValueError: something in it is not known, or does not read as the same code.
    """
    constants, functions, parts, codes = Constants(), list[int](), list[int](), list[CodeType]()
    for path in paths:
        content = lean_content(path)
        if content is not None:
            before = header(os.stat(path))  # noqa: PTH116  as the loader does
            code = constants.of(content)
            functions += constants.functions(code)
            parts += [constants.of(marshal.dumps(before)), code]
            codes.append(marshal.loads(content))  # noqa: S302  ours, as all bytecode
    stream = constants.stream(constants.sequence([constants.sequence(functions), *parts]))
    if list(marshal.loads(stream)[2::2]) != codes:  # noqa: S302  the same
        raise ValueError("equal constants cannot be shared: this Python writes codes otherwise")
    return MAGIC + stream


def main(target: str) -> None:
    """Write the archive `target`, unless another process compiles."""
    if is_alone_at_idle_priority():
        content = archive(line.rstrip("\n") for line in sys.stdin)
        SourceFileLoader("archive", target).set_data(target, content)


if __name__ == "__main__":
    main(sys.argv[1])
