"""What a tag of a message stands for, as the readers of messages have it."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple


class Form(Enum):
    """How a member is read."""

    TEXT = "a string"
    VALUE = "a message, or bytes"
    VALUES = "one item of a list"
    SCALAR = "a message that is a scalar in JSON, remembered"
    NUMBER = "a number or boolean"
    NUMBERS = "one of a list of them"
    MERGED = "a message that adds to what was read: an entry of a map, members of an embedded struct, packed numbers"


INLINED = -2
"""The place of a message that adds members anywhere: they are brought in order afterwards."""

TIMES = frozenset({"time", "micro_time"})
"""Scalars of which an empty message is none."""


class Member(NamedTuple):
    """What one tag stands for.

    Attributes:
        drops: whether an empty value, a zero byte behind the tag, is as good as none: Go writes most of them.
        place: where the member is declared; what comes in another order is brought in this one afterwards.
        keeps: whether it is written when it is empty.
        read: what reads the value: a `MessageReader` or `Plain` of `VALUE` and `VALUES`, a function of the bytes of
            `SCALAR`, a `Merge` of `MERGED`; the name of the scalar of `NUMBER` and `NUMBERS`.
        unset: what Go writes behind the member when the next ones are not set, which is skipped in one step: an object
            has few of the members that its schema declares. They are declared behind the member, too.
    """

    form: Form
    drops: bool
    place: int
    name: str
    keeps: bool
    read: Any
    unset: bytes = b""
