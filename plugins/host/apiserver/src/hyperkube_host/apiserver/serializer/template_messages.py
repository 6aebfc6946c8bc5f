"""Answers as protobuf with new objects of one template: they differ in name, uid and revision, each second in times.

So the message of one, with the envelope around it, is cut at the texts that each object has of its own. The next is
these pieces with other texts between them, for as long as the metadata says the same but for those: then neither is
anything encoded nor written as JSON to look it up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from hyperkube_lib.protobuf import ENVELOPE_TAIL, envelope_head
from hyperkube_lib.protobuf.wire import BYTES, tag, varint

from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object

Cut: TypeAlias = Callable[[Object], tuple[bytes, ...]]
"""Returns the message of metadata cut at name, uid and resourceVersion, as `Protobuf.cut_message` does."""

_Lengths: TypeAlias = "tuple[int, int, int]"
_Pieces: TypeAlias = "tuple[bytes, bytes, bytes, bytes]"
_Sized: TypeAlias = "tuple[int, bytes, bytes, bytes, bytes]"

_OPEN: Object = dict.fromkeys(("name", "uid", "resourceVersion"))
_FIRST, _RAW = tag(1, BYTES), tag(2, BYTES)
_TAIL_SIZE = len(ENVELOPE_TAIL)
_MOST_LENGTHS = 16
"""How many lengths of texts are remembered of a template: names mostly have one, revisions grow by a digit at times."""


class _Kept(NamedTuple):
    """What is known of the latest objects.

    Attributes:
        meta: their metadata without name, uid and revision; shared with one of them, so never changed.
        pieces: the message of the metadata, cut at these.
        end: of the body, from the last of these pieces on.
        bodies: by the lengths of the three, the whole body cut at them.
    """

    meta: Object
    pieces: tuple[bytes, ...]
    end: bytes
    bodies: dict[_Lengths, _Pieces]


class TemplateMessage:
    """Writes the bodies of answers with new objects of a template.

    May be used by several threads: each works with what it finds as one, and what is replaced meanwhile is cut again.

    Args:
        kind: of the objects.
        behind: the fields of their message that follow the metadata, which are field 1.
        cut: cuts the message of metadata.
    """

    __slots__ = ("_before", "_behind", "_cut", "_kept")

    def __init__(self, kind: GroupVersionKind, behind: bytes, cut: Cut) -> None:
        self._before = envelope_head(kind.api_version, kind.kind)
        self._behind = behind
        self._cut = cut
        self._kept = _Kept({}, (), b"", {})

    def body(self, meta: Object) -> bytes:
        """Return the body with an object of the template that has been stored, by its metadata."""
        kept = self._kept
        if {**meta, **_OPEN} != kept.meta:
            kept = self._kept = self._cut_anew(meta)
        name, uid, revision = meta["name"].encode(), meta["uid"].encode(), meta["resourceVersion"].encode()
        lengths = len(name), len(uid), len(revision)
        first, second, third, last = kept.bodies.get(lengths) or self._laid_out(kept, lengths)
        return b"".join((first, name, second, uid, third, revision, last))

    def _cut_anew(self, meta: Object) -> _Kept:
        pieces = self._cut(meta)
        return _Kept({**meta, **_OPEN}, pieces, pieces[-1] + self._behind + ENVELOPE_TAIL, {})

    def _laid_out(self, kept: _Kept, lengths: _Lengths) -> _Pieces:
        """Return the body for texts of such lengths, cut at them; all lengths are in the pieces."""
        size, first, second, third, _ = _field(kept.pieces, lengths)
        whole = _RAW + varint(size + len(self._behind))
        if len(kept.bodies) >= _MOST_LENGTHS:
            kept.bodies.clear()
        made = kept.bodies[lengths] = (self._before + whole + first, second, third, kept.end)
        return made


class TemplateMetadata:
    """Writes the bodies of answers with new objects that have their metadata alone from a template.

    May be used by several threads, as a `TemplateMessage`.

    Args:
        kind: of the objects.
        cut: cuts the message of metadata.
    """

    __slots__ = ("_before", "_cut", "_latest")

    def __init__(self, kind: GroupVersionKind, cut: Cut) -> None:
        self._before = envelope_head(kind.api_version, kind.kind) + _RAW
        self._cut = cut
        self._latest: tuple[Object, tuple[bytes, ...], dict[_Lengths, _Sized]] = {}, (), {}
        """Metadata without name, uid and revision, their pieces, and by the lengths of the three their field."""

    def body(self, meta: Object, behind: bytes) -> bytes:
        """Return the body with an object that has been stored, by its metadata and by what follows these."""
        latest, pieces, fields = self._latest
        if {**meta, **_OPEN} != latest:
            latest, pieces, fields = self._latest = {**meta, **_OPEN}, self._cut(meta), {}
        name, uid, revision = meta["name"].encode(), meta["uid"].encode(), meta["resourceVersion"].encode()
        lengths = len(name), len(uid), len(revision)
        field = fields.get(lengths)
        if field is None:
            if len(fields) >= _MOST_LENGTHS:
                fields.clear()
            field = fields[lengths] = _field(pieces, lengths)
        size, first, second, third, last = field
        whole = varint(size + len(behind) - _TAIL_SIZE)
        return b"".join((self._before, whole, first, name, second, uid, third, revision, last, behind))


def _field(pieces: tuple[bytes, ...], lengths: _Lengths) -> _Sized:
    """Return the field of the metadata for texts of such lengths: its size, and the field cut at them."""
    first, second, third, last = pieces
    name, uid, revision = map(varint, lengths)
    first, second, third = first + name, second + uid, third + revision
    size = len(first) + len(second) + len(third) + len(last) + sum(lengths)
    meta = _FIRST + varint(size)
    return len(meta) + size, meta + first, second, third, last


def message_in(body: bytes, kind: GroupVersionKind) -> bytes:
    """Return the message in a body of a kind as the items of lists have it, with tag and length."""
    return body[len(envelope_head(kind.api_version, kind.kind)) : -len(ENVELOPE_TAIL)]
