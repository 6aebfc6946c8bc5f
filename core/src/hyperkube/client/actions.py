"""What a decision can ask for: values that say what to do, and one function that does it.

A controller's ``decide(observed)`` returns a list of these; `perform` carries them out in order through the
controller's client. So decisions are tested as plain data, and I/O stays at the rim.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of


@dataclass(frozen=True, slots=True)
class Create:
    """Create an object; its namespace is in its metadata."""

    resource: GroupVersionResource
    object: Object


@dataclass(frozen=True, slots=True)
class Update:
    """Replace an object or, with `subresource`, its status; fails on a conflict."""

    resource: GroupVersionResource
    object: Object
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Patch:
    """Apply a merge patch."""

    resource: GroupVersionResource
    name: str
    patch: Object
    namespace: str = ""
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object if it is still the one with that uid; one that is gone already is fine."""

    resource: GroupVersionResource
    name: str
    namespace: str = ""
    uid: str = ""
    options: Object | None = None

    @classmethod
    def of(cls, resource: GroupVersionResource, obj: Object, options: Object | None = None) -> Delete:
        """Return the deletion of this very object."""
        return cls(resource, name_of(obj), namespace_of(obj), uid_of(obj), options)


@dataclass(frozen=True, slots=True)
class Emit:
    """Record an event about an object."""

    about: Object
    type: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Again:
    """Look at the key again after so many seconds, whatever happens till then."""

    seconds: float


Action = Create | Update | Patch | Delete | Emit | Again


def perform(client: Client, recorder: EventRecorder | None, actions: Iterable[Action]) -> float | None:
    """Carry actions out in order; return the seconds after which to look again, or None.

    Raises:
        ApiError: one was refused; the rest is not carried out.
        ConnectionError: there is no server.
    """
    again: float | None = None
    for action in actions:
        if isinstance(action, Again):
            again = action.seconds if again is None else min(again, action.seconds)
        elif isinstance(action, Emit):
            if recorder is not None:
                recorder.event(action.about, action.type, action.reason, action.message)
        else:
            _write(client, action)
    return again


def _write(client: Client, action: Create | Update | Patch | Delete) -> None:
    if isinstance(action, Create):
        client.create(action.resource, action.object, namespace_of(action.object))
    elif isinstance(action, Update):
        client.update(action.resource, action.object, namespace_of(action.object), subresource=action.subresource)
    elif isinstance(action, Patch):
        client.patch(action.resource, action.name, action.patch, action.namespace, subresource=action.subresource)
    else:
        delete(client, action)


def delete(client: Client, action: Delete) -> bool:
    """Delete; tell whether the object was still there.

    Raises:
        Conflict: another object has the name by now.
    """
    options = dict(action.options or {})
    if action.uid:
        options["preconditions"] = {"uid": action.uid}
    try:
        client.delete(action.resource, action.name, action.namespace, options=options or None)
    except NotFound:
        return False
    return True
