"""Warnings for amounts of bytes with a fraction.

Source: kubernetes pkg/api/pod/warnings.go, pkg/api/persistentvolumeclaim/util.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube.machinery.field import Path, quote
from hyperkube.machinery.quantity import parse

BYTE_RESOURCES = ("memory", "ephemeral-storage")


def amount_warnings(path: Path, amounts: Mapping[str, str]) -> list[str]:
    """Return the warnings for amounts of bytes with a fraction."""
    return [
        text for resource in BYTE_RESOURCES for text in fraction_warnings(path.key(resource), amounts.get(resource))
    ]


def fraction_warnings(path: Path, text: str | None) -> list[str]:
    """Return the warning for an amount of bytes with a fraction."""
    if text is None or parse(text).is_whole():
        return []
    return [f"{path}: fractional byte value {quote(str(parse(text)))} is invalid, must be an integer"]
