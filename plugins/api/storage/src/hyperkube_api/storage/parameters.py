"""The parameters that a class hands to a driver.

Source: kubernetes pkg/apis/storage/validation/validation.go.
"""

from __future__ import annotations

from hyperkube.machinery.field import FieldError, Path, invalid, too_long
from hyperkube.machinery.objects import Object

MAX_PARAMETERS, MAX_PARAMETER_BYTES = 512, 256 * 1024


def validate_parameters(path: Path, parameters: Object) -> list[FieldError]:
    """Check the number of parameters, their names and their size."""
    errors: list[FieldError] = []
    if len(parameters) > MAX_PARAMETERS:
        return [too_long(path, MAX_PARAMETERS)]
    if "" in parameters:
        errors.append(invalid(path, "", "field can not be empty."))
    if sum(len(key) + len(value) for key, value in parameters.items()) > MAX_PARAMETER_BYTES:
        errors.append(too_long(path, MAX_PARAMETER_BYTES))
    return errors
