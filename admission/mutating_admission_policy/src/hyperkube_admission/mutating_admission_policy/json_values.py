"""From the values of expressions to JSON.

Source: kubernetes apiserver ``pkg/cel/mutation/dynamic/objects.go``.
"""

from __future__ import annotations

from base64 import b64encode
from datetime import datetime, timedelta
from typing import Any

from hyperkube_lib.cel.library.conversions import show_duration, show_timestamp
from hyperkube_lib.cel.values import Optional, Struct, UInt


class Mismatch(Exception):
    """A value that cannot be part of an object; ``str()`` says why."""


def to_json(value: Any) -> Any:
    """Return a value as JSON.

    Raises:
        Mismatch: there is no JSON for it.
    """
    if isinstance(value, UInt):
        return int(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, datetime):
        return show_timestamp(value)
    if isinstance(value, timedelta):
        return show_duration(value)
    if isinstance(value, Optional) and value.present:
        return to_json(value.value)
    raise Mismatch(f"cannot convert a {type(value).__name__} to JSON")


def check_names(value: Any, path: str = "Object") -> None:
    """Check that each message stands in the field its type is named after.

    Raises:
        Mismatch: one does not.
    """
    if isinstance(value, Struct):
        if value.type_name != path:
            raise Mismatch(
                f'type mismatch: unexpected type name "{value.type_name}", expected "{path}", '
                "which matches field name path from root Object type"
            )
        for name, item in value.items():
            check_names(item, f"{path}.{name}")
    elif isinstance(value, list):
        for item in value:
            check_names(item, path)
    elif isinstance(value, dict):
        for item in value.values():
            check_names(item, path)
