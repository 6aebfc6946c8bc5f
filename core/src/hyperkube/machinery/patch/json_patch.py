"""JSON patch (RFC 6902), with the peculiarities of the library Kubernetes uses.

Negative indices count from the end, ``replace`` may create a member, and a missing value equals ``null`` in a test.
Source of semantics: evanphx/json-patch v4; of limits: kubernetes apiserver ``endpoints/handlers/patch.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import RequestEntityTooLarge
from hyperkube.machinery.objects import Object
from hyperkube.machinery.patch.refusal import PatchRejected, undecodable

MAX_OPERATIONS = 10_000
MAX_COPIED_BYTES = 3 * 1024 * 1024
MAX_SHIFTED_ITEMS = 50_000_000
"""Items of lists that the operations of one patch may shift: an insertion at the front of a list shifts all of it."""

_TEXTS = ("op", "path", "from")
_LONGEST_INDEX = 20
_INDEX = re.compile(r"[+-]?[0-9]+", re.ASCII)


def check_operations(patch: Any) -> list[Object]:
    """Return the patch as a list of operations.

    Raises:
        BadRequest: it is no list of objects.
        RequestEntityTooLarge: it has more than 10,000 operations.
    """
    if patch is None:
        return []
    if not isinstance(patch, list):
        raise undecodable(patch, "[]handlers.jsonPatchOp")
    for operation in patch:
        if not isinstance(operation, dict):
            raise undecodable(operation, "handlers.jsonPatchOp")
        for member in _TEXTS:
            if not isinstance(operation.get(member), str | None):
                raise undecodable(operation[member], "string", f"jsonPatchOp.{member}")
    if len(patch) > MAX_OPERATIONS:
        raise RequestEntityTooLarge(
            "Request entity too large: "
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}"
        )
    return patch


def apply_json_patch(document: Any, patch: Any) -> Any:
    """Return the document with the operations applied in order; the argument stays as it is.

    Raises:
        BadRequest: the patch is no list of operations.
        RequestEntityTooLarge: the patch has too many of them, or they shift too many items of lists.
        PatchRejected: an operation does not fit the document, or a test fails.
    """
    operations = check_operations(patch)
    if not operations:
        return document
    state = _State(orjson.loads(orjson.dumps(document)))
    for operation in operations:
        handler = _HANDLERS.get(operation.get("op") or "")
        if handler is None:
            raise PatchRejected(f"unexpected kind of operation: {operation.get('op')!r}")
        handler(state, operation)
    return state.root


@dataclass(slots=True)
class _State:
    root: Any
    copied: int = 0
    shifted: int = 0

    def shift(self, items: int) -> None:
        """Count items that make or take room in a list."""
        self.shifted += items
        if self.shifted > MAX_SHIFTED_ITEMS:
            raise RequestEntityTooLarge(
                "Request entity too large: "
                f"The allowed maximum of list items that a JSON patch shifts is {MAX_SHIFTED_ITEMS}"
            )


def _text(operation: Object, member: str) -> str:
    value = operation.get(member)
    if not isinstance(value, str):
        raise PatchRejected(f"{operation['op']} operation failed to decode {member}: missing value")
    return value


def _decode(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _index(items: list[Any], key: str, size: int) -> int:
    """Return the place that `key` names in a list that counts as `size` long."""
    if not _INDEX.fullmatch(key) or len(key) > _LONGEST_INDEX:
        raise PatchRejected(f"value was not a proper array index: {key!r}")
    index = int(key)
    if not -size <= index < size:
        raise PatchRejected(f"unable to access invalid index: {index} of {len(items)}")
    return index + size if index < 0 else index


def _parent(state: _State, path: str) -> tuple[dict[str, Any] | list[Any], str]:
    """Return the container that holds the last part of the path, and that part."""
    parts = path.split("/")
    if len(parts) < 2:
        raise PatchRejected(f"doc is missing path: {path!r}")
    here = state.root
    for part in parts[1:-1]:
        here = _get(here, _decode(part))
        if not isinstance(here, dict | list):
            raise PatchRejected(f"doc is missing path: {path!r}")
    return here, _decode(parts[-1])


def _get(container: Any, key: str) -> Any:
    """Return a member, where a missing one of an object counts as null."""
    if isinstance(container, dict):
        return container.get(key)
    return container[_index(container, key, len(container))]


def _put(state: _State, container: dict[str, Any] | list[Any], key: str, value: Any) -> None:
    """Add a member to an object or insert an item into a list."""
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        index = _index(container, key, len(container) + 1)
        state.shift(len(container) - index)
        container.insert(index, value)


def _take(state: _State, container: dict[str, Any] | list[Any], key: str) -> Any:
    """Remove a member or an item and return it."""
    if isinstance(container, list):
        index = _index(container, key, len(container))
        state.shift(len(container) - index)
        return container.pop(index)
    if key not in container:
        raise PatchRejected(f"unable to remove nonexistent key: {key!r}")
    return container.pop(key)


def _copy(value: Any) -> tuple[Any, int]:
    try:
        encoded = orjson.dumps(value)
    except TypeError as error:  # moves can make a value deeper than any that is written
        raise PatchRejected("exceeded max depth") from error
    return orjson.loads(encoded), len(encoded)


def _add(state: _State, operation: Object) -> None:
    container, key = _parent(state, _text(operation, "path"))
    _put(state, container, key, _copy(operation.get("value"))[0])


def _remove(state: _State, operation: Object) -> None:
    container, key = _parent(state, _text(operation, "path"))
    _take(state, container, key)


def _replace(state: _State, operation: Object) -> None:
    path = _text(operation, "path")
    value = _copy(operation.get("value"))[0]
    if not path:
        if not isinstance(value, dict | list):
            raise PatchRejected("replace operation value must be object or array")
        state.root = value
        return
    container, key = _parent(state, path)
    if isinstance(container, dict):
        container[key] = value
    else:
        container[_index(container, key, len(container))] = value


def _move(state: _State, operation: Object) -> None:
    container, key = _parent(state, _text(operation, "from"))
    value = _take(state, container, key)
    container, key = _parent(state, _text(operation, "path"))
    _put(state, container, key, value)


def _copy_value(state: _State, operation: Object) -> None:
    container, key = _parent(state, _text(operation, "from"))
    value, size = _copy(_get(container, key))
    state.copied += size
    if state.copied > MAX_COPIED_BYTES:
        raise PatchRejected(f"copies add up to {state.copied} bytes, more than {MAX_COPIED_BYTES}")
    container, key = _parent(state, _text(operation, "path"))
    _put(state, container, key, value)


def _test(state: _State, operation: Object) -> None:
    path = _text(operation, "path")
    actual = state.root if not path else _get(*_parent(state, path))
    if not _same(actual, operation.get("value")):
        raise PatchRejected(f"testing value {path} failed")


def _same(left: Any, right: Any) -> bool:
    """Compare two JSON values; a number never equals a boolean, nor 1 the float 1.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_same(one, other) for one, other in zip(left, right, strict=True))
    return type(left) is type(right) and bool(left == right)


_HANDLERS: dict[str, Callable[[_State, Object], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy_value,
    "test": _test,
}
