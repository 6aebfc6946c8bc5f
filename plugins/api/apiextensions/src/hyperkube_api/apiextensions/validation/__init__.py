"""Validation of custom resource definitions.

The rules take a dozen modules, which a server needs with the first definition, not to start: they are imported by the
first check.
"""

from __future__ import annotations

from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


def validate_definition(obj: Object) -> list[FieldError]:
    """Check a new definition."""
    from hyperkube_api.apiextensions.validation import definitions

    return definitions.validate_definition(obj)


def validate_definition_update(obj: Object, old: Object) -> list[FieldError]:
    """Check a changed definition."""
    from hyperkube_api.apiextensions.validation import definitions

    return definitions.validate_definition_update(obj, old)


def validate_definition_status(obj: Object) -> list[FieldError]:
    """Check a changed status of a definition."""
    from hyperkube_api.apiextensions.validation import definitions

    return definitions.validate_definition_status(obj)


def unknown_formats(definition: Object) -> list[str]:
    """Return the formats in the schemas of a definition that are not checked."""
    from hyperkube_api.apiextensions.validation import formats

    return formats.unknown_formats(definition)
