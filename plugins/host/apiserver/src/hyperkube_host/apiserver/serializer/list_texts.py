"""Lists as people read them, indented or in YAML: the same text in pieces as in one.

Both are made of the JSON that a list has in any case, some items at a time: the lines of an item are the same whatever
stands beside it, as indented JSON two levels deep, in YAML as an entry of a sequence, which its key does not indent.

Source: kubernetes apimachinery ``pkg/runtime/serializer/json/json.go`` (doEncode), sigs.k8s.io/yaml (JSONToYAML).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any

import orjson
from hyperkube_host.apiserver.serializer.list_pieces import SLICE_SECONDS, ListBody
from hyperkube_lib.serving import json, yaml
from hyperkube_lib.serving.finite_streams import PIECE_BYTES

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

FEW = 16
"""Pieces of a list that is sent as a whole at most: tens of milliseconds."""

_DEEP_HEAD, _DEEP_TAIL = len("[\n  [\n    "), len("\n  ]\n]")
"""Characters around what is indented two levels deep."""


@dataclass(frozen=True, slots=True)
class TextForm:
    """How lists are written for people.

    Attributes:
        whole: returns the text of an object.
        items: returns the text of items that follow each other in a list.
        separator: between them.
        only: the text of a list's only item, null.
        step: bytes of JSON, or an object of more, that a piece is made of: a millisecond or a few.
    """

    whole: Callable[[Object], bytes]
    items: Callable[[list[Any]], bytes]
    separator: bytes
    only: bytes
    step: int


class ListText:
    """A list in such a form.

    Args:
        body: the list in JSON; the member that its items are in is the last one.
        form: what is made of it.
    """

    slow = True

    def __init__(self, body: ListBody, form: TextForm) -> None:
        self._body = body
        self._form = form

    def encoded(self) -> bytes | Iterator[bytes]:
        """Return it as a whole if it has few pieces, else these.

        Raises:
            ApiError: an item cannot be encoded; the pieces raise it, too.
        """
        pieces = self._pieces()
        most = 1 if self._body.items.many else FEW
        first = list(islice(pieces, most + 1))
        return b"".join(first) if len(first) <= most else chain(first, pieces)

    def _pieces(self) -> Iterator[bytes]:
        body, form = self._body, self._form
        alone = orjson.loads(body.head + body.tail)
        after: bytes | None = None
        while not body.items.ended:
            parts = body.items.take(form.step, SLICE_SECONDS)
            if not parts:
                continue
            parts[0] = parts[0][1:]  # no comma before the first item
            text = form.items(orjson.loads(b"".join((b"[", *parts, b"]"))))
            if after is None:
                before, _, after = form.whole({**alone, next(reversed(alone)): [None]}).rpartition(form.only)
                yield before + text
            else:
                yield form.separator + text
        yield form.whole(alone) if after is None else after


def _indented(items: list[Any]) -> bytes:
    return orjson.dumps([items], option=orjson.OPT_INDENT_2)[_DEEP_HEAD:-_DEEP_TAIL]


INDENTED = TextForm(partial(json.dumps, pretty=True), _indented, b",\n    ", b"null", PIECE_BYTES // 2)
YAML_TEXT = TextForm(yaml.dumps, yaml.dumps, b"", b"- null\n", PIECE_BYTES // 8)
