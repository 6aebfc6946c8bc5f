"""What is wrong with the name of a CSI driver.

Source: kubernetes pkg/apis/core/validation (ValidateCSIDriverName).
"""

from __future__ import annotations

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, invalid, required, too_long

CSI_DRIVER_MAX = 63


def csi_driver_name(path: Path, name: str | None) -> list[FieldError]:
    """Check the name of a CSI driver."""
    if not name:
        return [required(path)]
    errors = [too_long(path, CSI_DRIVER_MAX)] if len(name) > CSI_DRIVER_MAX else []
    return errors + [invalid(path, name, text) for text in names.dns1123_subdomain(name.lower())]
