"""Metadata whose members are canonical already, so that it need not be walked again.

What a client wrote was decoded, what is stored was canonical when it was stored, and what the server adds is canonical
by itself. Only admission plugins and strategies may have changed it since, which its JSON tells.
"""

from __future__ import annotations

import orjson

from hyperkube.machinery.objects import Object


class KnownMetadata:
    """The JSON of metadata at a moment when each of its members was canonical, whatever their order."""

    __slots__ = ("_text",)

    def __init__(self, meta: Object) -> None:
        self._text = _json(meta)

    def holds(self, meta: object) -> bool:
        """Tell whether metadata is what it was then."""
        return self._text is not None and _json(meta) == self._text


def _json(meta: object) -> bytes | None:
    try:
        return orjson.dumps(meta)
    except TypeError:  # not what JSON can hold, such as an integer beyond 64 bits
        return None
