"""What an object that is being changed has in common with the stored one, until something may change it in place.

A patch mostly leaves the specification, or the status, as it is. To copy it for plugins that could change it is dearer
than all else about such a patch, and mostly none of them is called: they are idle, or what they do is known. So the
members that stayed are those of the stored object itself until the first hook that is called gets copies.
"""

from __future__ import annotations

from typing import Protocol

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.objects import Object, copy_object

_MEMORY, _NOTE = "hyperkube.shared", "hyperkube.note"


class KnownBefore(Protocol):
    """What is known of a new object before hooks are called that may change it."""

    @property
    def text(self) -> bytes | None:
        """The text of its template as it is now, none where that is not known."""

    def note(self) -> None:
        """Remember the object as it is: any of its members may be changed next."""

    def note_spec(self, text: bytes) -> bool:
        """Take it that ``spec`` alone is changed, after which the text is another; tell False if all is to be noted."""


def before_changes(request: AdmissionRequest, known: KnownBefore) -> None:
    """Have noted what is known of the request's object before the first hook that may change it, if there comes one."""
    request.memory[_NOTE] = known


def text_of(request: AdmissionRequest) -> bytes | None:
    """Return the text of the template of the request's new object, where that is known without writing it."""
    known: KnownBefore | None = request.memory.get(_NOTE)
    return known.text if known is not None else None


def share(request: AdmissionRequest) -> None:
    """Note that the request's object may have members of its old object, which are not to be changed."""
    request.memory[_MEMORY] = True


def part(request: AdmissionRequest) -> None:
    """Give the request's object members of its own, if it was noted to have others: it may be changed; idempotent."""
    known: KnownBefore | None = request.memory.pop(_NOTE, None)
    if known is not None:
        known.note()
    if request.memory.pop(_MEMORY, False) and request.object is not None and request.old_object is not None:
        part_members(request.object, request.old_object)


def part_spec(request: AdmissionRequest, text: bytes) -> None:
    """Do as `part`; given the text of a new object's template afterwards, ``spec`` alone is about to be changed."""
    known: KnownBefore | None = request.memory.get(_NOTE)
    if not text or known is None or not known.note_spec(text):
        part(request)


def end_sharing(request: AdmissionRequest) -> bool:
    """Take the note away before the object goes to others than plugins; tell whether it was still there."""
    return bool(request.memory.pop(_MEMORY, False))


def part_members(obj: Object, old: Object) -> None:
    """Copy those members of an object, but kind and version, that are the very same as in the old one."""
    for name, value in obj.items():
        if isinstance(value, dict | list) and value is old.get(name):
            obj |= copy_object({name: value})
