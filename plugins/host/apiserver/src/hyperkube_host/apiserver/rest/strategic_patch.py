"""Strategic merge patch: a merge patch that knows how lists are keyed.

Directives: ``$patch: replace|delete`` in an object or a list item, ``$retainKeys``, ``$setElementOrder/LIST`` and
``$deleteFromPrimitiveList/LIST``. Which lists merge, and by which key, the type tells.
Source of semantics and messages: kubernetes apimachinery ``pkg/util/strategicpatch/patch.go``.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import Any

from hyperkube.machinery.errors import BadRequest, RequestEntityTooLarge
from hyperkube.machinery.field import quote
from hyperkube.machinery.objects import Object
from hyperkube.machinery.patch.refusal import PatchFailed, PatchRejected, go_type, json_type, shown, shown_text
from hyperkube.machinery.schema.lookup import TypeInfo

MOST_ITEMS = 300_000
"""Of the lists that one patch merges: more than an object of 1.5 MB and its patch have, at some µs each."""

_MARKER = "$patch"
_RETAIN_KEYS = "$retainKeys"
_ORDER_PREFIX = "$setElementOrder/"
_DELETE_PREFIX = "$deleteFromPrimitiveList/"

_MERGED = frozenset({dict, list})
_TEXTS = frozenset({str})

_BAD_RETAIN_KEYS = "invalid patch format of retainKeys"
_BAD_ORDER = "invalid patch format of setElementOrder list"
_LIST_OF_LISTS = "lists of lists are not supported"


def apply_strategic_patch(document: Object, patch: Any, info: TypeInfo | None) -> Object:
    """Return the document with the patch merged in by the rules of its type; the arguments stay as they are.

    It shares with both what is as it is there.

    Raises:
        BadRequest: the patch is no object, or a directive has the wrong form.
        RequestEntityTooLarge: it merges too many items.
        PatchRejected: the patch holds lists of lists.
        PatchFailed: a list item lacks its merge key, a directive is unknown, or an order contradicts the patch.
    """
    if not isinstance(patch, dict):
        raise BadRequest(f"json: cannot unmarshal {json_type(patch)} into Go value of type map[string]interface {{}}")
    return _merge_map(document, patch, info, _Work())


class _Work:
    """What a patch has cost and made so far: items that name one item again and again have it merged each time."""

    def __init__(self) -> None:
        self._items = 0
        self._made: dict[int, Object] = {}

    def own(self, obj: Object) -> Object:
        """Return a copy of an object, which is merged into; the object itself if it was made here."""
        if id(obj) not in self._made:
            obj = obj.copy()
            self._made[id(obj)] = obj  # and held, so that no other gets its identity
        return obj

    def spend(self, items: int) -> None:
        """Count the items of lists that are merged.

        Raises:
            RequestEntityTooLarge: they are too many.
        """
        self._items += items
        if self._items > MOST_ITEMS:
            raise RequestEntityTooLarge(f"Request entity too large: the patch merges more than {MOST_ITEMS} list items")


def _merge_map(original: Object, patch: Object, info: TypeInfo | None, work: _Work) -> Object:
    """Return an object with a patch merged in; neither is changed."""
    original = work.own(original)
    has_directives = "$" in "".join(patch)
    if not has_directives and _MERGED.isdisjoint(map(type, patch.values())):
        return _set_members(original, patch)
    if has_directives:
        if _MARKER in patch:
            return _directive(patch)
        patch = patch.copy()
        _retain_keys(original, patch)
        _merge_ordered_lists(original, patch, info, work)
    for key, value in patch.items():
        deletes = has_directives and key.startswith(_DELETE_PREFIX)
        name = key.removeprefix(_DELETE_PREFIX) if deletes else key
        kind = value.__class__
        if value is None:
            original.pop(name, None)
        elif original.get(name).__class__ is not kind:  # or there is none
            if not deletes:
                original[name] = _plain(value)
        elif kind is dict:
            member, strategy, _ = _rules(info, name)
            original[name] = value if strategy == "replace" else _merge_map(original[name], value, member, work)
        elif kind is list:
            original[name] = _merge_list_by_rule(original[name], value, info, name, work, deletes=deletes)
        else:
            original[name] = value
    return original


def _set_members(original: Object, patch: Object) -> Object:
    original.update(patch)
    if None in patch.values():
        for key in [key for key in patch if patch[key] is None]:
            del original[key]
    return original


def _directive(patch: Object) -> Object:
    directive = patch[_MARKER]
    if directive == "replace":
        return {key: _plain(value) for key, value in patch.items() if key != _MARKER and value is not None}
    if directive == "delete":
        return {}
    raise PatchFailed(f"unknown patch type: {shown_text(directive)} in map: {shown(patch)}")


def _plain(value: Any) -> Any:
    """Return a value of the patch that meets nothing in the document: without nulls and directives."""
    if isinstance(value, dict):
        if _MARKER in value:  # even a replacement is dropped where there is nothing to replace
            return {}
        return {key: _plain(member) for key, member in value.items() if member is not None and not key.startswith("$")}
    if isinstance(value, list):
        return [_plain(item) for item in value if not (isinstance(item, dict) and _MARKER in item)]
    return value


def _rules(info: TypeInfo | None, name: str) -> tuple[TypeInfo | None, str, str]:
    """Return the type of a member, its strategy (without retainKeys) and its merge key."""
    member = info.field(name) if info is not None else None
    if member is None:
        return None, "", ""
    return member, _without_retain_keys(member.patch_strategy), member.patch_merge_key


@cache
def _without_retain_keys(strategies: str) -> str:
    """Return the other one of the strategies that a type declares."""
    return next((strategy for strategy in strategies.split(",") if strategy != "retainKeys"), "")


def _retain_keys(original: Object, patch: Object) -> None:
    """Apply ``$retainKeys``: all other members go; the patch may only set members it retains."""
    if _RETAIN_KEYS not in patch:
        return
    retained = patch.pop(_RETAIN_KEYS)
    if not isinstance(retained, list):
        raise BadRequest(_BAD_RETAIN_KEYS)
    keys = {key for key in retained if isinstance(key, str)}
    for key, value in patch.items():
        if value is not None and not key.startswith((_DELETE_PREFIX, _ORDER_PREFIX)) and key not in keys:
            raise BadRequest(_BAD_RETAIN_KEYS)
    for key in [key for key in original if key not in keys]:
        del original[key]


def _merge_ordered_lists(original: Object, patch: Object, info: TypeInfo | None, work: _Work) -> None:
    """Merge the lists for which the patch gives an order, and take them out of the patch."""
    for key in [key for key in patch if key.startswith(_ORDER_PREFIX)]:
        order = patch.pop(key)
        name = key.removeprefix(_ORDER_PREFIX)
        changed, live = patch.get(name), original.get(name)
        for value in (order, live if name in original else [], changed if name in patch else []):
            if not isinstance(value, list):
                raise PatchFailed(f"expected a []interface {{}}, but received a {go_type(value)}")
        if info is not None and info.field(name) is None:
            raise PatchFailed(f"unable to find api field in struct {info.name} for the json field {quote(name)}")
        merge_key = _rules(info, name)[2]
        if changed is not None:
            _check_order(changed, order, merge_key)
        if changed is None and live is None:
            continue
        if live is None:
            merged = changed
        elif changed is None:
            merged = live
        else:
            merged = _merge_list_by_rule(live, changed, info, name, work, deletes=False)
        patch.pop(name, None)
        original[name] = _ordered(merged or [], order, live or [], merge_key)


def _check_order(changed: list[Any], order: list[Any], merge_key: str) -> None:
    """Insist that the items of the patch appear in its ``$setElementOrder`` list, in that order."""
    if not order or changed == order:
        return
    wanted = [item for item in changed if not (isinstance(item, dict) and _MARKER in item)]
    remaining = iter([_identity(item, merge_key) for item in order])
    for item in wanted:
        if _identity(item, merge_key) not in remaining:  # takes from the iterator up to the match
            raise PatchFailed(
                f"The order in patch list:\n{shown(changed)}\n doesn't match $setElementOrder list:\n{shown(order)}\n"
            )


def _merge_list_by_rule(
    original: list[Any], patch: list[Any], info: TypeInfo | None, name: str, work: _Work, *, deletes: bool
) -> list[Any]:
    member, strategy, merge_key = _rules(info, name)
    if strategy != "merge":
        return patch  # as it stands: directives have no meaning here and become unknown fields
    items = member.items if member is not None else None
    return _merge_list(original, patch, items, merge_key, work, deletes=deletes)


def _merge_list(
    original: list[Any], patch: list[Any], items: TypeInfo | None, merge_key: str, work: _Work, *, deletes: bool
) -> list[Any]:
    work.spend(len(original) + len(patch))
    if not original and not patch:
        return original
    if not _holds_objects(original, patch):
        if deletes:
            gone = set(patch)
            return [item for item in original if item not in gone]
        merged = list({_key(item): item for item in [*original, *patch]}.values())
        return _ordered(merged, patch, original, "")
    if not merge_key:
        raise PatchFailed("cannot merge lists without merge key for type struct")
    in_place = _merged_in_place(original, patch, items, merge_key, work)
    if in_place is not None:
        return in_place
    kept, changes = _apply_item_directives(original, patch, merge_key)
    merged = list(kept)
    places: dict[Any, int] = {}
    for index, item in enumerate(merged):
        places.setdefault(_key(item.get(merge_key)), index)
    for change in changes:
        identity = _key(_identity(change, merge_key))
        place = places.get(identity)
        if place is None:
            places[identity] = len(merged)
            merged.append(_plain(change))
        else:
            merged[place] = _merge_map(merged[place], change, items, work)
    return _ordered(merged, changes, kept, merge_key)


def _merged_in_place(
    original: list[Any], patch: list[Any], items: TypeInfo | None, merge_key: str, work: _Work
) -> list[Any] | None:
    """Return a list merged with a patch of items that it has already, in its order, as most are; None else."""
    try:
        places = {item[merge_key]: index for index, item in enumerate(original)}
        order = [places[change[merge_key]] for change in patch]
    except (KeyError, TypeError):  # an item without its key, one that is no text, or a new one
        return None
    if len(places) != len(original) or not _TEXTS.issuperset(map(type, places)):
        return None
    if order != sorted({*order}) or "$" in "".join(chain.from_iterable(patch)):
        return None
    merged = list(original)
    for place, change in zip(order, patch, strict=True):
        merged[place] = _merge_map(merged[place], change, items, work)
    return merged


def _holds_objects(*lists: list[Any]) -> bool:
    """Tell whether the items are objects; all must be of one kind, and none a list."""
    if {*map(type, chain.from_iterable(lists))} == {dict}:
        return True
    kinds = {go_type(item) for items in lists for item in items}
    if "[]interface {}" in kinds:
        raise PatchRejected(_LIST_OF_LISTS)
    if len(kinds) > 1:
        raise PatchFailed(f"list element types are not identical: [{' '.join(shown(items) for items in lists)}]")
    return "map[string]interface {}" in kinds


def _apply_item_directives(original: list[Any], patch: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Apply the ``$patch`` directives among the items; return what is left of the list, and of the patch."""
    changes: list[Any] = []
    deleted = set()
    replaces = False
    for item in patch:
        directive = item.get(_MARKER)
        if _MARKER not in item:
            changes.append(item)
        elif directive == "delete":
            deleted.add(_key(_identity(item, merge_key)))
        elif directive == "replace":
            replaces = True
        elif directive == "merge":
            raise PatchFailed("merging lists cannot yet be specified in the patch")
        else:
            raise PatchFailed(f"unknown patch type: {shown_text(directive)} in map: {shown(item)}")
    if replaces:
        return [_plain(change) for change in changes], []
    return [item for item in original if _key(item.get(merge_key)) not in deleted] if deleted else original, changes


def _key(identity: Any) -> Any:
    """Return what may be looked up for the value of a merge key, which may be of any type; 1 is not true."""
    return (type(identity), identity) if isinstance(identity, str | int | float | None) else shown(identity)


def _identity(item: Any, merge_key: str) -> Any:
    """Return what tells an item from the others of its list.

    Raises:
        PatchFailed: an object without its merge key.
    """
    if not merge_key:
        return item
    if not isinstance(item, dict):
        raise PatchFailed(f"expected a map[string]interface {{}}, but received a {go_type(item)}")
    if merge_key not in item:
        raise PatchFailed(f"map: {shown(item)} does not contain declared merge key: {merge_key}")
    return item[merge_key]


def _ordered(merged: list[Any], patch_order: list[Any], live_order: list[Any], merge_key: str) -> list[Any]:
    """Order a merged list: items of the patch as the patch has them, the others as the live list had them.

    The others go before the first item of the patch that follows them in the live list.
    """
    first, live = _places(patch_order, merge_key), _places(live_order, merge_key)
    keyed = [(_key(_identity(item, merge_key)), item) for item in merged]
    from_patch = sorted((pair for pair in keyed if pair[0] in first), key=lambda pair: first[pair[0]])
    others = sorted((pair for pair in keyed if pair[0] not in first), key=lambda pair: live.get(pair[0], -1))
    result: list[Any] = []
    at = 0
    for key, item in from_patch:
        place = live.get(key)
        while place is not None and at < len(others):
            other = live.get(others[at][0])
            if other is None or other >= place:
                break
            result.append(others[at][1])
            at += 1
        result.append(item)
    return result + [item for _, item in others[at:]]


def _places(items: list[Any], merge_key: str) -> dict[Any, int]:
    places: dict[Any, int] = {}
    for index, item in enumerate(items):
        places.setdefault(_key(_identity(item, merge_key)), index)
    return places
