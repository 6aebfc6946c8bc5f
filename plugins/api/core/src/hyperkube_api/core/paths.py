"""Paths below a volume, and what they may not step out of.

Source: kubernetes pkg/apis/core/validation (validateLocalDescendingPath, ValidateLocalNonReservedPath).
"""

from __future__ import annotations

from hyperkube.machinery.field import FieldError, Path, invalid, required
from hyperkube.machinery.objects import Object

MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"


def relative_path(path: Path, value: str) -> list[FieldError]:
    """Check a path that must stay below where it starts."""
    errors = [invalid(path, value, "must be a relative path")] if value.startswith("/") else []
    return errors + no_backsteps(path, value) if ".." in value else errors


def no_backsteps(path: Path, value: str) -> list[FieldError]:
    """Check that no part of a path is ``..``."""
    return [invalid(path, value, "must not contain '..'")] if ".." in value.split("/") else []


def local_path(path: Path, value: str) -> list[FieldError]:
    """Check the path of a file in a volume: relative, and no name that the kubelet keeps for itself."""
    errors = relative_path(path, value)
    if value.startswith("..") and not value.startswith("../"):
        errors.append(invalid(path, value, "must not start with '..'"))
    return errors


def file_path(path: Path, value: str | None) -> list[FieldError]:
    """Check the path of a file in a volume, which must be there."""
    return local_path(path, value) if value else [required(path)]


def file_mode(path: Path, mode: int | None) -> list[FieldError]:
    """Check permission bits."""
    return [invalid(path, mode, MODE_TEXT)] if mode is not None and not 0 <= mode <= 0o777 else []


def key_to_path(path: Path, item: Object) -> list[FieldError]:
    """Check which key becomes which file."""
    errors = [] if item.get("key") else [required(path.child("key"))]
    errors += file_path(path.child("path"), item.get("path"))
    return errors + file_mode(path.child("mode"), item.get("mode"))
