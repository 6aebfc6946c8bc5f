"""What is wrong with a ConfigMap: keys that cannot be file names, or too much data.

Source: kubernetes pkg/apis/core/validation (ValidateConfigMap).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from hyperkube_api.meta.validation import by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, too_long
from hyperkube.machinery.objects import Object

MAX_BYTES = 2**20
_DATA = ROOT.child("data")
_WHOLE = Path("[]")
"""What errors about all of an object's data name: a path without elements, as Go prints it."""
_BINARY = ROOT.child("binaryData")
_FIXED = "field is immutable when `immutable` is set"


def decoded_size(encoded: str) -> int:
    """Return how many bytes a base64 text stands for."""
    return len(encoded) // 4 * 3 - encoded[-2:].count("=")


@lru_cache(maxsize=1024)
def _is_key(key: str) -> bool:
    """Tell whether a short key is right: those of many objects are the same."""
    return not names.config_map_key(key)


def validate_config_map(obj: Object) -> list[FieldError]:
    """Check keys and size of a ConfigMap."""
    data: Mapping[str, str] = obj.get("data") or {}
    binary: Mapping[str, str] = obj.get("binaryData") or {}
    errors: list[FieldError] = []
    total = 0
    for key in sorted(data):
        if len(key) > names.SUBDOMAIN_MAX or not _is_key(key):  # paths are written for errors alone
            errors += [invalid(_DATA.key(key), key, text) for text in names.config_map_key(key)]
        if key in binary:
            errors.append(invalid(_DATA.key(key), key, "duplicate of key present in binaryData"))
        value = data[key]
        total += len(value) if value.isascii() else len(value.encode())
    for key in sorted(binary):
        errors += by_rule(_BINARY.key(key), key, names.config_map_key)
        total += decoded_size(binary[key])
    if total > MAX_BYTES:
        errors.append(too_long(_WHOLE, MAX_BYTES))
    return errors


def validate_config_map_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a ConfigMap."""
    return immutable_members(obj, old, "data", "binaryData") + validate_config_map(obj)


def immutable_members(obj: Object, old: Object, *members: str) -> list[FieldError]:
    """Check that an immutable ConfigMap or Secret stays so, and that none of the named members changed."""
    if not old.get("immutable"):
        return []
    errors = [] if obj.get("immutable") else [forbidden(ROOT.child("immutable"), _FIXED)]
    changed = [member for member in members if (obj.get(member) or {}) != (old.get(member) or {})]
    return errors + [forbidden(ROOT.child(member), _FIXED) for member in changed]
