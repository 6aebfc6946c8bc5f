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
        self._text = orjson.dumps(meta)

    def holds(self, meta: object) -> bool:
        """Tell whether metadata is what it was then."""
        try:
            return orjson.dumps(meta) == self._text
        except TypeError:  # a plugin put something into it that is not JSON's
            return False
