"""Walks through typed objects for server-side apply: which fields are set, what changed, what a merge gives.

A `TypeInfo` tells at each place whether the value is one (scalars, atomic lists and objects) or many. Where no type is
declared, objects are many and lists are one. `MISSING` stands for a value that is not there; None is JSON's null.
Source: structured-merge-diff ``typed/tofieldset.go``, ``compare.go``, ``merge.go`` and ``remove.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from hyperkube_lib.structured_merge import field_sets
from hyperkube_lib.structured_merge.field_sets import FieldSet
from hyperkube_lib.structured_merge.items import element_of

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema.lookup import TypeInfo

MISSING: Any = object()
Path = tuple[str, ...]
_TEXTS = frozenset({str})
_WALKED = (dict, list)
"""What may have fields of its own below it."""


def is_atomic(info: TypeInfo | None, value: Any) -> bool:
    """Tell whether a value is owned as a whole; where anything is kept, each member has its own owners."""
    if isinstance(value, dict):
        if info is None or (info.form == "untyped" and info.preserves_unknown):
            return False
        return info.map_type == "atomic" or info.struct_type == "atomic" or not (info.is_map or info.is_struct)
    if isinstance(value, list):
        return info is None or not info.is_list or info.list_type not in {"map", "set"}
    return True


def _is_free(info: TypeInfo) -> bool:
    """Tell whether a value of any kind may stand here."""
    return info.form == "untyped" and info.preserves_unknown


def member_type(info: TypeInfo | None, name: str) -> TypeInfo | None:
    """Return the type of a member, None when it is not declared."""
    return info.field(name) if info is not None else None


def _items(info: TypeInfo | None) -> TypeInfo | None:
    return info.items if info is not None else None


def _grouped(values: Any, info: TypeInfo | None) -> dict[str, list[Any]]:
    """Return the items of a list by path element; more than one where an element occurs twice."""
    groups: dict[str, list[Any]] = {}
    for value in values if isinstance(values, list) else ():
        groups.setdefault(element_of(value, info), []).append(value)
    return groups


def field_set_of(value: Any, info: TypeInfo | None) -> FieldSet:
    """Return the set of all fields that an object sets."""
    node: FieldSet = {}
    if is_atomic(info, value):
        return {field_sets.MEMBER: {}}
    if isinstance(value, list):
        for element, same in _grouped(value, info).items():
            node[element] = {field_sets.MEMBER: {}}
            if len(same) == 1:
                node[element] |= field_set_of(same[0], _items(info))
        return node
    for name, member in value.items():
        known = member_type(info, name) if info is None or info.is_struct else None
        child = field_set_of(member, member_type(info, name))
        if known is None or member == {}:
            child[field_sets.MEMBER] = {}
        if child:
            node[f"f:{name}"] = child
    return node


def everything_in(value: Any, info: TypeInfo | None) -> FieldSet:
    """Return the value itself with all fields below it: what a comparison with nothing finds, without comparing."""
    node: FieldSet = {field_sets.MEMBER: {}}
    if not value or not isinstance(value, dict | list) or is_atomic(info, value):
        return node
    if isinstance(value, dict):
        for name, member in value.items():
            node[f"f:{name}"] = everything_in(member, info.field(name) if info is not None else None)
        return node
    items = _items(info)
    for element, same in _grouped(value, info).items():
        node[element] = everything_in(same[0], items) if len(same) == 1 else {field_sets.MEMBER: {}}
    return node


@dataclass(slots=True)
class Comparison:
    """What a second object added, changed and removed; no field is in two of the sets."""

    added: FieldSet = field(default_factory=dict)
    modified: FieldSet = field(default_factory=dict)
    removed: FieldSet = field(default_factory=dict)

    def touched(self) -> FieldSet:
        """Return all fields that were added, changed or removed."""
        return field_sets.union(field_sets.union(self.modified, self.added), self.removed)

    def without(self, ignored: FieldSet) -> Comparison:
        """Return the comparison without the ignored fields and all below them."""
        if all(map(ignored.keys().isdisjoint, (self.added, self.modified, self.removed))):
            return self
        return Comparison(
            field_sets.recursive_difference(self.added, ignored),
            field_sets.recursive_difference(self.modified, ignored),
            field_sets.recursive_difference(self.removed, ignored),
        )


def compare(left: Any, right: Any, info: TypeInfo | None) -> Comparison:
    """Compare two objects of one type; equal parts cost no walk."""
    comparison = Comparison({}, {}, {})
    if left.__class__ is dict and right.__class__ is dict and not is_atomic(info, right):
        _compare_members(left, right, info, (), comparison)
    elif left != right:
        _compare_unequal(left, right, info, (), comparison)
    return comparison


def _compare_unequal(left: Any, right: Any, info: TypeInfo | None, path: Path, result: Comparison) -> None:
    if left is MISSING:
        field_sets.graft(result.added, path, everything_in(right, info))
        return
    if right is MISSING:
        field_sets.graft(result.removed, path, everything_in(left, info))
        return
    if left.__class__ not in _WALKED and right.__class__ not in _WALKED:
        field_sets.insert(result.modified, path)
        return
    if left.__class__ is dict and right.__class__ is dict and not is_atomic(info, right):
        _compare_members(left, right, info, path, result)
        return
    descended = False
    has_null = left is None or right is None  # which stands for an empty value of the other's kind where that is known
    if left.__class__ is not right.__class__ and (info is None or _is_free(info) or not has_null):
        _compare_below(left, MISSING, info, path, result)
        _compare_below(MISSING, right, info, path, result)
    else:
        descended = _compare_below(left, right, info, path, result)
    if not descended:
        field_sets.insert(result.modified, path)


def _compare_below(left: Any, right: Any, info: TypeInfo | None, path: Path, result: Comparison) -> bool:
    """Compare the members or items; tell whether there were any to compare."""
    sample = left if left is not MISSING and left is not None else right
    empty = not (left and left is not MISSING) and not (right and right is not MISSING)
    if empty or is_atomic(info, sample) or not isinstance(sample, dict | list):
        return False
    if isinstance(sample, list):
        _compare_items(left, right, info, path, result)
        return True
    old = left if isinstance(left, dict) else {}
    new = right if isinstance(right, dict) else {}
    _compare_members(old, new, info, path, result)
    return True


def _compare_members(old: Object, new: Object, info: TypeInfo | None, path: Path, result: Comparison) -> None:
    """Compare the members of two objects; those that are the same object cost no comparison."""
    get, node = old.get, None
    for name, after in new.items():
        before = get(name, MISSING)
        if before is after or before == after:
            continue
        if before is not MISSING and before.__class__ not in _WALKED and after.__class__ not in _WALKED:
            if node is None:
                node = field_sets.node_at(result.modified, path)
            node[f"f:{name}"] = {field_sets.MEMBER: {}}
            continue
        here = (*path, f"f:{name}")
        below = info.field(name) if info is not None else None
        if before.__class__ is dict and after.__class__ is dict and not is_atomic(below, after):
            _compare_members(before, after, below, here, result)
        else:
            _compare_unequal(before, after, below, here, result)
    for name in old.keys() - new.keys():
        _compare_unequal(
            old[name], MISSING, info.field(name) if info is not None else None, (*path, f"f:{name}"), result
        )


def _compare_items(left: Any, right: Any, info: TypeInfo | None, path: Path, result: Comparison) -> None:
    keyed = _by_key(left, right, info)
    if keyed is not None:
        _compare_keyed(*keyed, info, path, result)
        return
    old, new = _grouped(left, info), _grouped(right, info)
    items = _items(info)
    for element in old | new:
        before, after = old.get(element, []), new.get(element, [])
        here = (*path, element)
        if len(before) <= 1 and len(after) <= 1:
            one, other = before[0] if before else MISSING, after[0] if after else MISSING
            if one is not other and one != other:
                _compare_unequal(one, other, items, here, result)
        elif len(before) > 1 and len(after) > 1:
            if before != after:
                field_sets.insert(result.modified, here)
        elif len(before) > 1:
            if after:
                _compare_unequal(MISSING, after[0], items, here, result)
            field_sets.insert(result.removed, here)
        else:
            if before:
                _compare_unequal(before[0], MISSING, items, here, result)
            field_sets.insert(result.added, here)


def _compare_keyed(
    old: dict[str, Object], new: dict[str, Object], info: TypeInfo | None, path: Path, result: Comparison
) -> None:
    """Compare the items of two lists by their keys: the path is made of those alone that differ."""
    items = _items(info)
    for key in old | new if old.keys() != new.keys() else new:
        before, after = old.get(key, MISSING), new.get(key, MISSING)
        if before is after or before == after:
            continue
        here = (*path, element_of(before if after is MISSING else after, info))
        if before.__class__ is dict and after.__class__ is dict and not is_atomic(items, after):
            _compare_members(before, after, items, here, result)
        else:
            _compare_unequal(before, after, items, here, result)


def _by_key(left: Any, right: Any, info: TypeInfo | None) -> tuple[dict[str, Object], dict[str, Object]] | None:
    """Return the items of two lists by their one key, a text; None where they have several, or not each its own."""
    if info is None or info.list_type != "map" or len(info.list_map_keys) != 1:
        return None
    if left.__class__ is not list or right.__class__ is not list:
        return None
    name = info.list_map_keys[0]
    try:
        old, new = {item[name]: item for item in left}, {item[name]: item for item in right}
    except (KeyError, TypeError):  # without its key, which may have a default, or no object
        return None
    if len(old) != len(left) or len(new) != len(right) or not _TEXTS.issuperset(map(type, (*old, *new))):
        return None
    return old, new


def merge(left: Any, right: Any, info: TypeInfo | None) -> Any:
    """Return `left` with what `right` sets laid over it; lists of type map and set merge by their elements."""
    if right is MISSING:
        return left
    if left is MISSING or is_atomic(info, right if right is not None else left):
        return right
    if isinstance(right, dict) or (right is None and isinstance(left, dict)):
        if not left and not right:
            return right
        new = right or {}
        old = left if isinstance(left, dict) else {}
        merged = dict(old)
        for name, value in new.items():
            merged[name] = merge(old.get(name, MISSING), value, member_type(info, name))
        return merged
    if not left and not right:
        return right
    return _merge_items(left if isinstance(left, list) else [], right or [], info)


def _merge_items(left: list[Any], right: list[Any], info: TypeInfo | None) -> list[Any]:
    """Interleave two keyed lists: the order of `right` rules among its items, that of `left` elsewhere."""
    old, new = _grouped(left, info), _grouped(right, info)
    left_order = [element_of(value, info) for value in left]
    right_order = list(new)
    shared: Iterator[str] = iter([element for element in right_order if element in old])
    wanted = next(shared, None)
    done: set[str] = set()
    merged: list[Any] = []

    def take(element: str) -> None:
        nonlocal wanted
        done.add(element)
        before = old.get(element, [MISSING])
        merged.append(merge(before[0] if len(before) == 1 else MISSING, new[element][0], _items(info)))
        if element == wanted:
            wanted = next(shared, None)

    at_left = at_right = 0
    while at_left < len(left_order) or at_right < len(right_order):
        if at_left < len(left_order):
            element = left_order[at_left]
            if element not in new:
                merged.append(left[at_left])
                at_left += 1
                continue
            if element in done or (at_right < len(right_order) and element not in {right_order[at_right], wanted}):
                at_left += 1
                continue
            if at_right < len(right_order) and element == right_order[at_right]:
                at_left += 1
        if at_right < len(right_order):
            take(right_order[at_right])
            at_right += 1
    return merged


def remove(value: Any, unwanted: FieldSet, info: TypeInfo | None) -> Any:
    """Return the value without the fields of a set; what loses all its members or items becomes null."""
    if not isinstance(value, dict | list):
        return value
    if not value or is_atomic(info, value):
        return None
    if isinstance(value, list):
        kept = []
        for item in value:
            element = element_of(item, info)
            if field_sets.has(unwanted, element):
                continue
            inside = field_sets.below(unwanted, element)
            kept.append(remove(item, inside, _items(info)) if inside else item)
        return kept or None
    left = {}
    for name, member in value.items():
        element = f"f:{name}"
        if field_sets.has(unwanted, element):
            continue
        inside = field_sets.below(unwanted, element)
        left[name] = remove(member, inside, member_type(info, name)) if inside else member
    return left or None
