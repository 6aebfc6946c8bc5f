"""What a patch does not name: it is canonical as it was stored, and need not be decoded again."""

from __future__ import annotations

from typing import Any

import orjson
from hyperkube_host.apiserver.resources.served import Codec

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.schema import CompiledSchema


@dataclass(frozen=True, slots=True)
class Untouched:
    """Members of an object as it was stored.

    Attributes:
        whole: those that a patch does not name, or names as they are; metadata is a copy but for its ``managedFields``,
            which a write replaces and never changes.
        within: of the others that have members, those that it does not name.
    """

    whole: Object
    within: dict[str, Object]


NOTHING = Untouched({}, {})
"""All is decoded."""


def untouched(content: Any, document: Any, old: Object, codec: Codec) -> Untouched:
    """Return what a patch leaves alone of the object `old`, of which it makes `document`.

    Nothing is known where a directive is about the whole object, or where members come in whose place is not known.
    """
    if content.__class__ is not dict or document.__class__ is not dict or not isinstance(codec, CompiledSchema):
        return NOTHING
    if "$" in "".join(content) or not document.keys() <= old.keys():
        return NOTHING
    whole = {name: value for name, value in old.items() if name in document and name not in content}
    if "metadata" in whole:  # which every write changes
        whole["metadata"] = _copied("metadata", whole["metadata"])
    within: dict[str, Object] = {}
    for name, named in content.items():
        before, after = old.get(name), document.get(name)
        if named.__class__ is not dict or before.__class__ is not dict or after.__class__ is not dict:
            continue
        if _is_same(after, before):  # what it names is so already, such as the uid in a kubelet's patch
            whole[name] = _copied(name, before)
            continue
        info = codec.type.field(name)
        touched = _touched(named)
        if info is None or not info.is_struct or touched is None:
            continue
        own = {member: value for member, value in before.items() if member in after and member not in touched}
        within[name] = own
    return Untouched(whole, within)


def _is_same(after: Object, before: Object) -> bool:
    """Tell whether an object is equal to another, also by the types of all values."""
    if after.keys() != before.keys():
        return False
    for name, value in before.items():
        now = after[name]
        if now is not value and (now.__class__ is not str or now != value):
            return after == before and orjson.dumps(after) == orjson.dumps(before)  # for 1 is true, but not of its type
    return True


def _copied(name: str, members: Object) -> Object:
    """Return a copy of some members of an object's member `name`."""
    managed = members.get("managedFields") if name == "metadata" else None
    if not managed:
        return copy_object(members)
    return {**copy_object({**members, "managedFields": None}), "managedFields": managed}


def _touched(named: Object) -> set[str] | None:
    """Return the members that a patch of an object is about; None where a directive is about all of them."""
    touched = {*named}
    if "$" not in "".join(named):
        return touched
    for name in named:
        if name.startswith("$"):
            directive, _, member = name.partition("/")
            if not member or directive == "$retainKeys":
                return None
            touched.add(member)
    return touched


def decoded(codec: Codec, document: Any, kept: Untouched, *, report: bool) -> tuple[Object, list[str]]:
    """Return a patched document as an object, and the texts for its unknown members (see `CompiledSchema.decode`).

    Members in `kept` are taken as they are; of those that are there in part the object gets copies.

    Raises:
        DecodeError: a value has the wrong type.
    """
    whole, within = kept.whole, kept.within
    if not whole and not within:
        return codec.decode(copy_object(document), report=report)
    changed = {name: value for name, value in document.items() if name not in whole}
    for name, own in within.items():
        changed[name] = {member: value for member, value in changed[name].items() if member not in own}
    unknown: list[str] = []
    obj = _alone(codec, copy_object(changed)) if len(changed) == len(within) == 1 else None
    if obj is None:
        obj, unknown = codec.decode(copy_object(changed), report=report)
        if not obj.keys() <= document.keys():  # something is written even if it is empty
            return codec.decode(copy_object(document), report=report)
    for name, own in within.items():
        if own:
            obj[name] = {**obj.get(name, {}), **_copied(name, own)}
    obj |= whole
    return {name: obj[name] for name in document if name in obj}, unknown


def _alone(codec: Codec, changed: Object) -> Object | None:
    """Return the one member that changed, decoded; None if anything is wrong with it."""
    (name,) = changed
    part = codec.decode_member(name, changed[name]) if isinstance(codec, CompiledSchema) else None
    return {name: part} if part is not None else None
