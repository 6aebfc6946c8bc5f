"""A new object that came as a message and is answered as one: what its body holds besides metadata is known already."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hyperkube.machinery.objects import Object


class Echo(NamedTuple):
    """What is known of a new object from the way its message came.

    Attributes:
        write: returns the answer's body, by the object's metadata as they are stored.
        members: the bytes that tell which members the object has, and which metadata but for the name; nothing where
            their template is not known, or a text is empty. Who owns the fields of a new object depends on no more.
    """

    write: Callable[[Object], bytes]
    members: bytes
