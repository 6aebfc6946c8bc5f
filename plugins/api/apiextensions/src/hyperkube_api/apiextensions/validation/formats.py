"""Formats of strings and numbers: unknown ones are not checked, which the response warns of.

Source: kubernetes apiextensions-apiserver ``pkg/registry/customresourcedefinition/strategy.go``.
"""

from __future__ import annotations

from hyperkube_api.apiextensions.validation.definitions import subschemas
from hyperkube_api.apiextensions.validation.internal import internal
from hyperkube_lib.structural_schema.formats import is_known

from hyperkube.machinery.objects import Object


def unknown_formats(definition: Object) -> list[str]:
    """Return the formats in the schemas of a definition that are not checked, each once, in their order."""
    levels = [level for schema in internal(definition).schemas() for level in subschemas(schema)]
    named = ((level.get("format") or "", level.get("type") or "") for level in levels)
    return list(dict.fromkeys(form for form, kind in named if form and not is_known(form, kind)))
