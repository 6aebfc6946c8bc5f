"""The names of drivers, pools, devices and attributes, and lists, sets and maps with a limit.

Source: kubernetes pkg/apis/resource/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from hyperkube_api.core.csi_drivers import csi_driver_name
from hyperkube_api.meta.validation import by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, duplicate, invalid, repeated, required, too_long, too_many
from hyperkube.machinery.objects import Object

T = TypeVar("T")
Check = Callable[[Path, T], list[FieldError]]
MAX_IDENTIFIER, MAX_DOMAIN, MAX_POOL_NAME = 32, 63, 253
MAX_BINDING_CONDITIONS = 4


def check_list(path: Path, items: Sequence[T] | None, limit: int, check: Check[T]) -> list[FieldError]:
    """Check each item of a list, unless there are too many (`limit` below zero: there never are)."""
    items = items or ()
    if 0 <= limit < len(items):
        return [too_many(path, len(items), limit)]
    return [error for index, item in enumerate(items) for error in check(path.index(index), item)]


def check_set(
    path: Path, items: Sequence[T] | None, limit: int, check: Check[T], key: Callable[[T], Hashable]
) -> list[FieldError]:
    """Check each item of a list, and that no two have the same key."""
    items = items or ()
    errors = check_list(path, items, limit, check)
    if 0 <= limit < len(items):
        return errors
    seen: set[Hashable] = set()
    for index, item in enumerate(items):
        if key(item) in seen:
            errors.append(duplicate(path.index(index), key(item)))
        seen.add(key(item))
    return errors


def check_map(
    path: Path, entries: Mapping[str, T] | None, limit: int, longest: int, check: Check[T], named: Check[str]
) -> list[FieldError]:
    """Check keys and values of a map; a key of more than `longest` characters is shortened in paths."""
    entries = entries or {}
    if 0 <= limit < len(entries):
        return [too_many(path, len(entries), limit)]
    errors: list[FieldError] = []
    for key, value in sorted(entries.items()):
        at = path.key(_shortened(key, longest))
        errors += named(at, key) + check(at, value)
    return errors


def _shortened(text: str, longest: int) -> str:
    longest = max(longest, 16)
    if len(text) <= longest:
        return text
    left = longest - len("...")
    return text[: (left + 1) // 2] + "..." + text[len(text) - left // 2 :]


def label(path: Path, name: str) -> list[FieldError]:
    """Check the name of a device, a request or a counter."""
    return by_rule(path, name, names.dns1123_label)


def driver(path: Path, name: str | None) -> list[FieldError]:
    """Check the name of a driver."""
    return csi_driver_name(path, name)


def pool(path: Path, name: str | None) -> list[FieldError]:
    """Check the name of a pool: subdomains between slashes."""
    if not name:
        return [required(path)]
    errors = [too_long(path, MAX_POOL_NAME)] if len(name) > MAX_POOL_NAME else []
    return errors + [error for part in name.split("/") for error in by_rule(path, part, names.dns1123_subdomain)]


def qualified(path: Path, name: str) -> list[FieldError]:
    """Check the name of an attribute or a capacity: an identifier, perhaps with a domain."""
    domain, slash, identifier = name.partition("/")
    if not slash:
        return _identifier(path, name)
    if "/" in identifier:
        return []  # Kubernetes lets them through, too
    empty = invalid(path, "", "the domain must not be empty")
    errors = driver(path, domain) if domain else [empty]
    return errors + (_identifier(path, identifier) if identifier else [invalid(path, "", "the name must not be empty")])


def fully_qualified(path: Path, name: str) -> list[FieldError]:
    """Check the name of an attribute with its domain."""
    errors = qualified(path, name)
    if "/" not in name:
        text = "a fully qualified name must be a domain and a name separated by a slash"
        errors.append(invalid(path, name, text))
    return errors


def _identifier(path: Path, name: str) -> list[FieldError]:
    errors = [too_long(path, MAX_IDENTIFIER)] if len(name) > MAX_IDENTIFIER else []
    return errors + by_rule(path, name, names.c_identifier)


def share(path: Path, uid: str | None) -> list[FieldError]:
    """Check the UID of a share of a device, if there is one."""
    if uid is None:
        return []
    try:
        usual = str(UUID(uid))
    except ValueError:
        return [invalid(path, uid, f"error validating uid: invalid UUID length: {len(uid)}")]
    if usual == uid:
        return []
    text = (
        "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal "
        "characters"
    )
    return [invalid(path, uid, text)]


def json_object(path: Path, value: Any, limit: int) -> list[FieldError]:
    """Check free data: an object of at most `limit` bytes."""
    if value is None:
        return [required(path)]
    from orjson import dumps

    if len(dumps(value)) > limit:
        return [too_long(path, limit)]
    return [] if isinstance(value, dict) else [invalid(path, "<value omitted>", "must be a valid JSON object")]


def binding_conditions(path: Path, holder: Object) -> list[FieldError]:
    """Check which conditions let a pod be bound to a node, and which end its binding."""
    needed, failed = holder.get("bindingConditions") or [], holder.get("bindingFailureConditions") or []
    at, failed_at = path.child("bindingConditions"), path.child("bindingFailureConditions")
    errors = check_list(at, needed, MAX_BINDING_CONDITIONS, _condition)
    errors += check_list(failed_at, failed, MAX_BINDING_CONDITIONS, _condition)
    errors += [duplicate(at.index(index), item) for index, item in repeated(needed)]
    errors += [duplicate(failed_at.index(index), item) for index, item in repeated(failed)]
    wanted = set(needed)
    for index, item in enumerate(failed):
        if item in wanted:
            text = "bindingFailureConditions must not overlap with bindingConditions"
            errors.append(invalid(failed_at.index(index), item, text))
    if failed and not needed:
        errors.append(invalid(at, None, "bindingConditions are required to use bindingFailureConditions"))
    if needed and not failed:
        text = "bindingFailureConditions are required to use bindingConditions"
        errors.append(invalid(failed_at, None, text))
    return errors


def _condition(path: Path, name: str) -> list[FieldError]:
    return by_rule(path, name, names.qualified_name)
