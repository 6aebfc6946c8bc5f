"""What is wrong with a Secret: its keys, its size, or what its type requires.

Source: kubernetes pkg/apis/core/validation (ValidateSecret).
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping

import orjson
from hyperkube_api.core.config_maps.validation import MAX_BYTES, decoded_size, immutable_members
from hyperkube_api.core.go_json import syntax_error
from hyperkube_api.meta.validation import IMMUTABLE, by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, required, too_long
from hyperkube.machinery.objects import Object, annotations_of

_DATA = ROOT.child("data")
_REDACTED = "<secret contents redacted>"
_GO_KINDS = {list: "array", str: "string", bool: "bool"}
SERVICE_ACCOUNT_NAME = "kubernetes.io/service-account.name"


def validate_secret(obj: Object) -> list[FieldError]:
    """Check keys, size and what the type demands of a Secret."""
    data: Mapping[str, str] = obj.get("data") or {}
    errors = [error for key in sorted(data) for error in by_rule(_DATA.key(key), key, names.config_map_key)]
    if sum(decoded_size(value) for value in data.values()) > MAX_BYTES:
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
        return [invalid(path, _REDACTED, syntax_error(error))]
    if value is None or isinstance(value, dict):
        return []
    kind = _GO_KINDS.get(type(value), "number")
    return [invalid(path, _REDACTED, f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")]


def validate_secret_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a Secret."""
    errors: list[FieldError] = []
    if obj.get("type") != old.get("type"):
        errors.append(invalid(ROOT.child("type"), obj.get("type") or "", IMMUTABLE))
    return errors + immutable_members(obj, old, "data") + validate_secret(obj)
