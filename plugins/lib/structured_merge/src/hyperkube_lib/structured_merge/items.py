"""How an item of a list is told from the others: by its keys or by its value."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hyperkube_lib.structured_merge.field_sets import key_element, value_element

from hyperkube.machinery.field import quote
from hyperkube.machinery.schema.lookup import TypeInfo

_LONGEST = 256
"""Characters of a key whose element is remembered."""


class NoElement(ValueError):
    """An item that cannot be told from the others; the message is Kubernetes' own."""


def element_of(item: Any, info: TypeInfo | None) -> str:
    """Return the path element of an item in a list of type map or set.

    Raises:
        NoElement: the item has none of the keys, or is no scalar in a set.
    """
    if info is not None and info.list_type == "map":
        names = info.list_map_keys
        if len(names) == 1 and item.__class__ is dict:
            value = item.get(names[0])
            if value.__class__ is str and len(value) <= _LONGEST:
                return _element_of_key(names[0], value)
        return key_element(_keys_of(item, info))
    if item is None:
        raise NoElement("associative list without keys may not have a null element")
    if isinstance(item, dict):
        raise NoElement("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise NoElement("associative list without keys has an element that's a list type")
    return value_element(item)


@lru_cache(maxsize=256)
def _element_of_key(name: str, value: str) -> str:
    """Return the element of an item with one key; conditions, containers and volumes have few different ones."""
    return key_element({name: value})


def _keys_of(item: Any, info: TypeInfo) -> dict[str, Any]:
    if item is None:
        raise NoElement("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise NoElement("associative list with keys may not have non-map elements")
    keys = {}
    for name in info.list_map_keys:
        value = item.get(name)
        if name not in item and info.items is not None:
            member = info.items.field(name)
            value = member.default if member is not None else None
            if value is None:
                continue
        keys[name] = value
    if not keys:
        listed = " ".join(quote(name) for name in info.list_map_keys)
        raise NoElement(
            f"associative list with keys has an element that omits all key fields [{listed}] "
            "(and doesn't have default values for any key fields)"
        )
    return keys
