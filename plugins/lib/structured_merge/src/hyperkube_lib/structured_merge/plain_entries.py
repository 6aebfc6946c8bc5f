"""Entries of ``managedFields`` as this server writes them, which need not be read to be compared."""

from __future__ import annotations

import re

import orjson
from hyperkube_lib.structured_merge import field_sets
from hyperkube_lib.structured_merge.managed_fields import APPLY, UPDATE

from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import TEMPLATE_MAX, TEMPLATES, Recent

_sound: Recent[bytes, bool] = Recent(4 * TEMPLATES)
_SOUND = re.compile(rb'(?:[{},]|"(?:\.|[fkvi]:(?:[^"\\]|\\.)*+)":)*+', re.DOTALL)
"""JSON of nothing but objects whose keys are elements of paths."""

_MEMBERS, _MEMBERS_OF_SUBRESOURCE = 6, 7
"""How many members an entry has."""


def plain_fields(entry: Object, version: str) -> bytes:
    """Return the fields of an entry as JSON if it is one that this server writes, of a version; else nothing."""
    if entry.get("apiVersion") != version or entry.get("operation") not in {UPDATE, APPLY}:
        return b""
    if entry.get("fieldsType") != "FieldsV1" or not entry.get("manager") or not entry.get("time"):
        return b""
    if len(entry) != (_MEMBERS_OF_SUBRESOURCE if entry.get("subresource") else _MEMBERS):
        return b""
    wire = entry.get("fieldsV1")
    if wire.__class__ is not dict or not wire or field_sets.MEMBER in wire:
        return b""
    text = orjson.dumps(wire)
    is_sound = _is_sound(text) if len(text) <= TEMPLATE_MAX else _SOUND.fullmatch(text) is not None
    return text if is_sound else b""


def _is_sound(text: bytes) -> bool:
    """Tell whether the JSON of a ``fieldsV1`` can be read: it has members of known kinds alone, which are objects."""
    known = _sound.get(text)
    return _sound.keep(text, _SOUND.fullmatch(text) is not None) if known is None else known
