"""What an object that is being changed has in common with the stored one, until something may change it in place.

A patch mostly leaves the specification, or the status, as it is. To copy it for plugins that could change it is dearer
than all else about such a patch, and mostly none of them is called: they are idle, or what they do is known. So the
members that stayed are those of the stored object itself until the first hook that is called gets copies.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.objects import Object, copy_object

_MEMORY, _NOTE = "hyperkube.shared", "hyperkube.note"


def before_changes(request: AdmissionRequest, note: Callable[[], None]) -> None:
    """Have a call made before the first hook that may change the request's object, if there comes one."""
    request.memory[_NOTE] = note


def share(request: AdmissionRequest) -> None:
    """Note that the request's object may have members of its old object, which are not to be changed."""
    request.memory[_MEMORY] = True


def part(request: AdmissionRequest) -> None:
    """Give the request's object members of its own, if it was noted to have others: it may be changed; idempotent."""
    note: Callable[[], None] | None = request.memory.pop(_NOTE, None)
    if note is not None:
        note()
    if request.memory.pop(_MEMORY, False) and request.object is not None and request.old_object is not None:
        part_members(request.object, request.old_object)


def end_sharing(request: AdmissionRequest) -> bool:
    """Take the note away before the object goes to others than plugins; tell whether it was still there."""
    return bool(request.memory.pop(_MEMORY, False))


def part_members(obj: Object, old: Object) -> None:
    """Copy those members of an object, but kind and version, that are the very same as in the old one."""
    for name, value in obj.items():
        if isinstance(value, dict | list) and value is old.get(name):
            obj |= copy_object({name: value})
