"""One version of a definition: its deprecation, columns, subresources and selectable fields.

Source: kubernetes apiextensions-apiserver ``pkg/apis/apiextensions/validation/validation.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperkube_api.apiextensions.validation.field_paths import NotAFieldPath, follow
from hyperkube_lib.structural_schema.structural_rules import unsupported

from hyperkube.machinery.field import FieldError, Path, duplicate, invalid, required, too_many
from hyperkube.machinery.objects import Object

COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
MAX_SELECTABLE = 8
MAX_WARNING = 256
_SCALARS = frozenset({"string", "boolean", "integer"})


def deprecation(path: Path, version: Object) -> Iterator[FieldError]:
    """Check the warning of a deprecated version."""
    warning = version.get("deprecationWarning")
    if warning is None:
        return
    if not version.get("deprecated"):
        yield invalid(path, warning, "can only be set for deprecated versions")
        return
    if len(warning.encode()) > MAX_WARNING:
        yield invalid(path, warning, f"must be <= {MAX_WARNING} characters long")
    if not warning:
        yield invalid(path, warning, "must not be an empty string")
    for index, character in enumerate(warning):
        if not character.isprintable() or (character.isspace() and character != " "):
            at = len(warning[:index].encode())
            text = f"must only contain printable UTF-8 characters; non-printable character found at index {at}"
            yield invalid(path, warning, text)
            return


def columns(path: Path, declared: Sequence[Object]) -> Iterator[FieldError]:
    """Check the columns that tables have."""
    for index, column in enumerate(declared):
        yield from _column(path.index(index), column)


def _column(path: Path, column: Object) -> Iterator[FieldError]:
    kind, form = column.get("type") or "", column.get("format") or ""
    if not column.get("name"):
        yield required(path.child("name"))
    if kind not in COLUMN_TYPES:
        text = f"must be one of {','.join(COLUMN_TYPES)}"
        yield invalid(path.child("type"), kind, text) if kind else required(path.child("type"), text)
    if form and form not in COLUMN_FORMATS:
        yield invalid(path.child("format"), form, f"must be one of {','.join(COLUMN_FORMATS)}")
    yield from _path(path.child("JSONPath"), column.get("jsonPath") or "")


def _path(path: Path, text: str) -> Iterator[FieldError]:
    if not text:
        yield required(path)
    elif not text.startswith("."):
        yield invalid(path, text, "must be a simple json path starting with .")


def subresources(path: Path, declared: Object | None) -> Iterator[FieldError]:
    """Check where ``/scale`` finds its parts."""
    scale = (declared or {}).get("scale")
    if scale is None:
        return
    for member, below in (("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")):
        text, at = scale.get(member) or "", path.child(f"scale.{member}")
        wrong = list(_path(at, text))
        if not wrong and not text.startswith(f"{below}."):
            wrong = [invalid(at, text, f"should be a json path under {below}")]
        yield from wrong
    text, at = scale.get("labelSelectorPath") or "", path.child("scale.labelSelectorPath")
    if text and not text.startswith("."):
        yield from _path(at, text)
    elif text and not text.startswith((".spec.", ".status.")):
        yield invalid(at, text, "should be a json path under either .spec or .status")


def selectable(above: Path, fields: Sequence[Object], schema: Object) -> Iterator[FieldError]:
    """Check the fields that field selectors may name; `above` is where ``selectableFields`` is declared."""
    path, why = above.child("selectableFields"), unsupported(schema)
    if why:
        yield invalid(above.child("schema.openAPIV3Schema"), "", why)
        return
    seen: set[str] = set()
    for index, field in enumerate(fields):
        at, text = path.index(index).child("jsonPath"), field.get("jsonPath") or ""
        if not text:
            yield required(at)
            continue
        try:
            found, kind = follow(text, schema, brackets=False)
        except NotAFieldPath as error:
            yield invalid(at, text, f"is an invalid path: {error}")
            continue
        if found.split(".")[0] == "metadata":
            yield invalid(at, text, "must not point to fields in metadata")
        if kind.get("type") not in _SCALARS:
            detail = "must point to a field of type string, boolean or integer. "
            yield invalid(at, text, f"{detail}Enum string fields and strings with formats are allowed.")
        if found in seen:
            yield duplicate(at, text)
        seen.add(found)
    if len(seen) > MAX_SELECTABLE:
        yield too_many(path, len(seen), MAX_SELECTABLE)
