"""How large a volume is to be, as CSI says it. Source: the CSI specification, ``CreateVolume`` (CapacityRange)."""

from __future__ import annotations

from typing import Any

from hyperkube_lib.csi.calls import refused

from hyperkube.machinery.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CapacityRange:
    """Bytes: at least so many, and at most; `most` is 0 for any number."""

    least: int
    most: int = 0

    @classmethod
    def of(cls, request: Any, default: int = 0) -> CapacityRange:
        """Return what a request for a volume says; `default` is the least where it says none."""
        told = request.get("capacity_range") or {}
        return cls(int(told.get("required_bytes") or default), int(told.get("limit_bytes") or 0))

    def check(self, name: str, size: int) -> None:
        """Refuse a volume that is there under the name and does not fit.

        Raises:
            CsiFailed: ALREADY_EXISTS.
        """
        if size < self.least or (self.most and size > self.most):
            raise refused("ALREADY_EXISTS", f"volume {name} exists and has {size} bytes")
