"""ConfigMaps and Secrets: keys that can be file names, a size that fits, types that keep their word.

Source: kubernetes pkg/apis/core/validation (ValidateConfigMap, ValidateSecret).
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping

import orjson
from hyperkube_api.meta.validation import IMMUTABLE, by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, required, too_long
from hyperkube.machinery.objects import Object, annotations_of

MAX_BYTES = 2**20
_DATA = ROOT.child("data")
_WHOLE = Path("[]")
"""What errors about all of an object's data name: a path without elements, as Go prints it."""
_BINARY = ROOT.child("binaryData")
_FIXED = "field is immutable when `immutable` is set"
_REDACTED = "<secret contents redacted>"
_GO_KINDS = {list: "array", str: "string", bool: "bool"}
SERVICE_ACCOUNT_NAME = "kubernetes.io/service-account.name"


def _size(encoded: str) -> int:
    """Return how many bytes a base64 text stands for."""
    return len(encoded) // 4 * 3 - encoded[-2:].count("=")


def validate_config_map(obj: Object) -> list[FieldError]:
    """Check keys and size of a ConfigMap."""
    data: Mapping[str, str] = obj.get("data") or {}
    binary: Mapping[str, str] = obj.get("binaryData") or {}
    errors: list[FieldError] = []
    for key in sorted(data):
        errors += by_rule(_DATA.key(key), key, names.config_map_key)
        if key in binary:
            errors.append(invalid(_DATA.key(key), key, "duplicate of key present in binaryData"))
    for key in sorted(binary):
        errors += by_rule(_BINARY.key(key), key, names.config_map_key)
    total = sum(len(value.encode()) for value in data.values()) + sum(_size(value) for value in binary.values())
    if total > MAX_BYTES:
        errors.append(too_long(_WHOLE, MAX_BYTES))
    return errors


def validate_config_map_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a ConfigMap."""
    return _immutable(obj, old, "data", "binaryData") + validate_config_map(obj)


def _immutable(obj: Object, old: Object, *members: str) -> list[FieldError]:
    if not old.get("immutable"):
        return []
    errors = [] if obj.get("immutable") else [forbidden(ROOT.child("immutable"), _FIXED)]
    changed = [member for member in members if (obj.get(member) or {}) != (old.get(member) or {})]
    return errors + [forbidden(ROOT.child(member), _FIXED) for member in changed]


def validate_secret(obj: Object) -> list[FieldError]:
    """Check keys, size and what the type demands of a Secret."""
    data: Mapping[str, str] = obj.get("data") or {}
    errors = [error for key in sorted(data) for error in by_rule(_DATA.key(key), key, names.config_map_key)]
    if sum(_size(value) for value in data.values()) > MAX_BYTES:
        errors.append(too_long(_DATA, MAX_BYTES))
    return errors + _by_type(obj, data)


def _by_type(obj: Object, data: Mapping[str, str]) -> list[FieldError]:
    match obj.get("type"):
        case "kubernetes.io/service-account-token":
            if not annotations_of(obj).get(SERVICE_ACCOUNT_NAME):
                return [required(ROOT.child("metadata", "annotations").key(SERVICE_ACCOUNT_NAME))]
        case "kubernetes.io/dockercfg":
            return _json(".dockercfg", data)
        case "kubernetes.io/dockerconfigjson":
            return _json(".dockerconfigjson", data)
        case "kubernetes.io/basic-auth":
            if not data.keys() & {"username", "password"}:
                return [required(_DATA.key("username")), required(_DATA.key("password"))]
        case "kubernetes.io/ssh-auth":
            return _keys(data, "ssh-privatekey", need_bytes=True)
        case "kubernetes.io/tls":
            return _keys(data, "tls.crt", "tls.key")
        case _:
            pass
    return []


def _keys(data: Mapping[str, str], *keys: str, need_bytes: bool = False) -> list[FieldError]:
    return [required(_DATA.key(key)) for key in keys if key not in data or (need_bytes and not data[key])]


def _json(key: str, data: Mapping[str, str]) -> list[FieldError]:
    path: Path = _DATA.key(key)
    if key not in data:
        return [required(path)]
    try:
        value = orjson.loads(b64decode(data[key]))
    except orjson.JSONDecodeError as error:
        return [invalid(path, _REDACTED, json_fault(error))]
    if value is None or isinstance(value, dict):
        return []
    kind = _GO_KINDS.get(type(value), "number")
    return [invalid(path, _REDACTED, f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")]


def json_fault(error: orjson.JSONDecodeError) -> str:
    """Return the text Go has for JSON that ends early or begins wrongly."""
    if not error.doc or error.pos >= len(error.doc):
        return "unexpected end of JSON input"
    return f"invalid character '{error.doc[error.pos]}' looking for beginning of value"


def validate_secret_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a Secret."""
    errors: list[FieldError] = []
    if obj.get("type") != old.get("type"):
        errors.append(invalid(ROOT.child("type"), obj.get("type") or "", IMMUTABLE))
    return errors + _immutable(obj, old, "data") + validate_secret(obj)
