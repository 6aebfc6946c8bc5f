"""Metadata, a status or an object whose members are canonical already, so that they need not be walked again.

What a client wrote was decoded, what is stored was canonical when it was stored, and what the server adds is canonical
by itself. Only admission plugins and strategies may have changed it since, which its JSON tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import orjson

from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_host.apiserver.resources.echo import Echo


class KnownMetadata:
    """The JSON of metadata at a moment when each of its members was canonical, whatever their order."""

    __slots__ = ("_text",)

    def __init__(self, meta: Object) -> None:
        self._text = _json(meta)

    def holds(self, meta: object) -> bool:
        """Tell whether it is what it was then."""
        return self._text is not None and _json(meta) == self._text


class NewMetadata(KnownMetadata):
    """The metadata of a new object as it was decoded.

    Its JSON is taken only when a plugin is about to be called that may change it.

    Attributes:
        text: the text of the object's template (`template_text`) as it is now; none where that is not known.
        is_left: whether nothing was called that might have changed the object.
    """

    __slots__ = ("_is_noted", "_meta", "is_left", "text")
    echo: ClassVar[None] = None
    """Of a template the answer is known from elsewhere."""

    def __init__(self, meta: Object, text: bytes | None = None) -> None:
        self._meta = meta
        self._is_noted = False
        self._text = None
        self.is_left = True
        self.text = text

    def note(self) -> None:
        """Remember what it is: from now on all of the object may be changed; again this does nothing."""
        self.is_left = False
        if not self._is_noted:
            self._is_noted, self._text, self.text = True, _json(self._meta), None

    def note_spec(self, text: bytes) -> bool:
        """Take it that the specification alone is changed, after which the text is another; tell that this will do."""
        self.is_left = False
        if self.text:
            self.text = text
        return True

    def holds(self, meta: object) -> bool:
        """Tell whether it is what it was then."""
        return super().holds(meta) if self._is_noted else meta is self._meta


class KnownObject:
    """An object as it was decoded, of a kind to which nothing is added (`is_plain`).

    Mostly no plugin is called that might change it. So its JSON is taken only when one is about to be.

    Attributes:
        echo: what writes its body as a message, by its metadata, where it came as one; none when it is another object.
    """

    __slots__ = ("_is_noted", "_obj", "_text", "echo")

    def __init__(self, obj: Object, echo: Echo | None = None) -> None:
        self._obj = obj
        self.echo = echo
        self._is_noted = False
        self._text: bytes | None = None

    def note(self) -> None:
        """Remember what it is: from now on it may be changed; again this does nothing."""
        if not self._is_noted:
            self._is_noted, self._text = True, _json(self._obj)

    @property
    def text(self) -> None:
        """Of its template nothing is known."""

    def note_spec(self, _text: bytes) -> bool:
        """Tell that all of it has to be noted."""
        return False

    @property
    def is_left(self) -> bool:
        """Whether nothing was called that might have changed it."""
        return not self._is_noted

    def holds(self, obj: Object) -> bool:
        """Tell whether an object is this one, as it was decoded."""
        if not self._is_noted:
            return obj is self._obj
        return self._text is not None and _json(obj) == self._text


class KnownStatus:
    """The JSON of a status as it was decoded, which is canonical; a strategy may have added texts to it."""

    __slots__ = ("_names", "_text")

    def __init__(self, status: object) -> None:
        self._names = frozenset(status) if isinstance(status, dict) else frozenset()
        self._text = _json(status)

    def holds(self, status: Object) -> bool:
        """Tell whether it is what it was then, but for texts that were added: then each member is canonical."""
        added = status.keys() - self._names
        if any(not status[name] or status[name].__class__ is not str for name in added):
            return False
        decoded = {name: status[name] for name in status if name in self._names} if added else status
        return self._text is not None and _json(decoded) == self._text


def _json(meta: object) -> bytes | None:
    try:
        return orjson.dumps(meta)
    except TypeError:  # not what JSON can hold, such as an integer beyond 64 bits
        return None
