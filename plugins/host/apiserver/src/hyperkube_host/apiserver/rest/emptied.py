"""Lists and maps that a client wrote though nothing is in them.

Our canonical form leaves them out, as Go's JSON does. Kubernetes keeps them until the object is stored, so that a
refusal shows ``[]`` where the client wrote that, and ``null`` where it wrote nothing. They are looked for only when
there is something to refuse: the document is read again then, and the check runs on an object that has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object, copy_object

Place = tuple[str | int, ...]
"""Names of members and indices of items, from the root."""


def places_of(document: Any, at: Place = ()) -> Iterator[Place]:
    """Yield where empty lists and maps are in a document."""
    if not document and isinstance(document, list | dict):
        yield at
    elif isinstance(document, dict):
        for name, value in document.items():
            yield from places_of(value, (*at, name))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from places_of(value, (*at, index))


def restored(obj: Object, document: Any) -> Object:
    """Return a copy of an object with what is empty in the document it came from, where the object has nothing."""
    result = copy_object(obj)
    for place in places_of(document):
        _restore(result, document, place)
    return result


def _restore(obj: Any, document: Any, place: Place) -> None:
    for step in place[:-1]:
        document = document[step]
        try:
            obj = obj[step]
        except (LookupError, TypeError):  # the object has no such part
            return
    if place and isinstance(obj, dict):
        obj.setdefault(place[-1], type(document[place[-1]])())


def as_written(
    errors: list[FieldError],
    obj: Object,
    read: Callable[[], Any],
    check: Callable[[Object], list[FieldError]],
) -> list[FieldError]:
    """Return the errors as they are of the object with what the client wrote though it is empty.

    Args:
        errors: what is wrong with the object in canonical form.
        obj: the object.
        read: gives the document that the client wrote.
        check: what found the errors.
    """
    document = read()
    if next(places_of(document), None) is None:
        return errors
    again = check(restored(obj, document))
    return again if _kinds(again) == _kinds(errors) else errors


def _kinds(errors: Sequence[FieldError]) -> list[tuple[str, str]]:
    return [(error.reason, str(error.path)) for error in errors]
