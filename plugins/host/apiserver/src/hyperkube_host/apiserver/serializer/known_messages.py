"""Messages of new objects of one template: they differ in nothing but the name, which Go writes first.

The pods of a ReplicaSet or a Job come as messages whose metadata is field 1, and in it the name is field 1, empty where
the server is to generate it. So behind the name all of them have the same bytes, and what these decode to is known.
"""

from __future__ import annotations

from typing import NamedTuple

from hyperkube_lib.protobuf import ENVELOPE_TAIL, envelope_head
from hyperkube_lib.protobuf.wire import BYTES, WireError, delimited, read_length, tag

_FIRST, _RAW = tag(1, BYTES)[0], tag(2, BYTES)[0]
_ONE_BYTE = 0x80
"""From here on a length has more than one byte."""


class NamedMessage(NamedTuple):
    """A body with a message of an object, cut behind the object's name.

    Attributes:
        template: all but the name and the lengths that it is part of: the kind, which comes in one version, how many
            bytes of the message follow the name, how many of these belong to the metadata, and all that follows.
        name: of the object, read as all texts of messages are.
    """

    template: tuple[str, int, int, bytes]
    name: str

    @property
    def unnamed(self) -> bytes:
        """The message without the name."""
        _, left, meta, rest = self.template
        return delimited(1, rest[:meta]) + rest[meta:left]


def cut(body: bytes, api_version: str, kind: str) -> NamedMessage | None:
    """Cut a body of a kind behind the name; None where it does not begin with a short one as Go writes it."""
    head = envelope_head(api_version, kind)
    if not body.startswith(head):
        return None
    at = len(head)
    try:
        if body[at] != _RAW:
            return None
        at, stop = read_length(body, at + 1, len(body))
        if body[at] != _FIRST or body[stop:] != ENVELOPE_TAIL:  # else there may be another message
            return None
        at, end = read_length(body, at + 1, stop)
        size = body[at + 1]
        if body[at] != _FIRST or size >= _ONE_BYTE or at + 2 + size > end:
            return None
    except (WireError, IndexError):  # it ends too soon, and is refused by those who read all of it
        return None
    behind = at + 2 + size
    return NamedMessage(
        (kind, stop - behind, end - behind, body[behind:]), str(body[at + 2 : behind], "utf-8", "replace")
    )
