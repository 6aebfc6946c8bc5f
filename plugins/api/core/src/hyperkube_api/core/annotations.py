"""Annotations in templates: controllers copy them to the objects that they make.

Source: kubernetes apimachinery pkg/api/validation (ValidateAnnotations).
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, invalid, too_long

MAX_BYTES = 256 * 1024


def annotation_map(path: Path, annotations: Mapping[str, str]) -> list[FieldError]:
    """Check the keys of annotations and how much there is of them."""
    errors = [invalid(path, key, text) for key in sorted(annotations) for text in names.qualified_name(key.lower())]
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    return [*errors, too_long(path, MAX_BYTES)] if size > MAX_BYTES else errors
