"""Messages of new objects of one template: they differ in nothing but the name, which Go writes first.

The pods of a ReplicaSet or a Job come as messages whose metadata is field 1, and in it the name is field 1, empty where
the server is to generate it. So behind the name all of them have the same bytes, and what these decode to is known.
"""

from __future__ import annotations

from typing import NamedTuple

from hyperkube_lib.protobuf import Envelope
from hyperkube_lib.protobuf.wire import BYTES, WireError, delimited, read_length, tag

_FIRST = tag(1, BYTES)
_ONE_BYTE = 0x80
"""From here on a length has more than one byte."""
_SHORTEST = 2
"""Bytes of a tag and a length."""


class NamedMessage(NamedTuple):
    """A message of an object, cut behind its name.

    Attributes:
        name: as it stands there.
        left: how many bytes of `rest` belong to the metadata.
        rest: all that comes behind the name.
    """

    api_version: str
    kind: str
    name: bytes
    left: int
    rest: bytes

    @property
    def text(self) -> str:
        """The name, read as all texts of messages are."""
        return str(self.name, "utf-8", "replace")

    @property
    def template(self) -> tuple[str, int, bytes]:
        """All but the name; a kind comes in one version."""
        return self.kind, self.left, self.rest

    @property
    def unnamed(self) -> bytes:
        """The message without the name."""
        return delimited(1, self.rest[: self.left]) + self.rest[self.left :]


def cut(envelope: Envelope) -> NamedMessage | None:
    """Cut a message behind the name of its object; None where it does not begin with one, or with a long one."""
    api_version, kind, raw = envelope
    if raw[:1] != _FIRST:
        return None
    try:
        start, stop = read_length(raw, 1, len(raw))
    except WireError:
        return None
    at = start + _SHORTEST
    if at > stop or raw[start:at][:1] != _FIRST or raw[start + 1] >= _ONE_BYTE:
        return None
    end = at + raw[start + 1]
    return NamedMessage(api_version, kind, raw[at:end], stop - end, raw[end:]) if end <= stop else None
