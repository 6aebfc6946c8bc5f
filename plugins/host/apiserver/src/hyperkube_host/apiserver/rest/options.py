"""The options of a request: read from its query (and, for deletions, its body), and checked.

Source: kubernetes apimachinery ``pkg/apis/meta/v1/validation/validation.go``,
``pkg/apis/meta/internalversion/validation``.
"""

from __future__ import annotations

import re

from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.resources.meta_types import META_GROUP
from hyperkube_host.apiserver.rest.ownership import MANAGER_MAX

from hyperkube.machinery.errors import BadRequest, Invalid
from hyperkube.machinery.field import FieldError, Path, invalid, not_supported, too_long
from hyperkube.machinery.groups import GroupKind
from hyperkube.machinery.objects import Object

_INTEGER = re.compile("[+-]?[0-9]+", re.ASCII)
_LONGEST_INTEGER = 100
_VALIDATION_MODES = ("Ignore", "Strict", "Warn")


def integer(text: str) -> int:
    """Return a number from the query, of 64 bits.

    Raises:
        BadRequest: it is none.
    """
    if not _INTEGER.fullmatch(text):
        raise BadRequest(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    value = int(text) if len(text) < _LONGEST_INTEGER else 1 << 64
    if not -(1 << 63) <= value < 1 << 63:
        raise BadRequest(f'strconv.ParseInt: parsing "{text}": value out of range')
    return value


def dry_run_errors(values: list[str]) -> list[FieldError]:
    """Return what is wrong with ``dryRun``."""
    if any(value != "All" for value in values):
        return [FieldError("FieldValueNotSupported", Path("dryRun"), values, 'supported values: "All"')]
    return []


def manager_errors(manager: str) -> list[FieldError]:
    """Return what is wrong with ``fieldManager``."""
    path = Path("fieldManager")
    errors = [too_long(path, MANAGER_MAX)] if len(manager.encode()) > MANAGER_MAX else []
    position = 0  # in bytes, as Go counts
    for char in manager:
        if not char.isprintable():
            errors.append(invalid(path, manager, f"invalid character U+{ord(char):04X} (at position {position})"))
        position += len(char.encode())
    return errors


def field_validation_errors(mode: str) -> list[FieldError]:
    """Return what is wrong with ``fieldValidation``."""
    if mode and mode not in _VALIDATION_MODES:
        return [not_supported(Path("fieldValidation"), mode, ("", *_VALIDATION_MODES))]
    return []


_META_V1 = f"{META_GROUP}/v1"


def create_options(request: ApiRequest, kind: str) -> Object:
    """Return the Create-, Update- or PatchOptions of a request as an object.

    Raises:
        Invalid: an option has a wrong value.
    """
    if not request.query:
        return {"kind": kind, "apiVersion": _META_V1}
    dry_run = list(request.query.get("dryRun") or [])
    manager, mode = request.param("fieldManager"), request.param("fieldValidation")
    if not (dry_run or manager or mode):
        return {"kind": kind, "apiVersion": _META_V1}
    errors = manager_errors(manager) + dry_run_errors(dry_run) + field_validation_errors(mode)
    refuse(kind, errors)
    options: Object = {"kind": kind, "apiVersion": _META_V1}
    if dry_run:
        options["dryRun"] = dry_run
    if manager:
        options["fieldManager"] = manager
    if mode:
        options["fieldValidation"] = mode
    return options


def refuse(kind: str, errors: list[FieldError]) -> None:
    """Refuse options with errors.

    Raises:
        Invalid: there are any.
    """
    if errors:
        raise Invalid.about(GroupKind(META_GROUP, kind), "", errors)
