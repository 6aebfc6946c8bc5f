"""The bounds of what flags say of endpoints and slices."""

from __future__ import annotations

from hyperkube.machinery.errors import UsageError

_LEAST, _MOST_SYNCS, _MOST_ENDPOINTS = 1, 50, 1000
"""Source: kubernetes ``cmd/kube-controller-manager/app/options/endpointslicecontroller.go``."""


def check_syncs(flag: str, value: int) -> None:
    """Refuse a number of syncs at once that is not of 1 to 50.

    Raises:
        UsageError: it is not.
    """
    _check(flag, value, _MOST_SYNCS)


def check_endpoints(flag: str, value: int) -> None:
    """Refuse a number of endpoints of one slice that is not of 1 to 1000.

    Raises:
        UsageError: it is not.
    """
    _check(flag, value, _MOST_ENDPOINTS)


def _check(flag: str, value: int, most: int) -> None:
    if value < _LEAST:
        raise UsageError(f"{flag} must not be less than {_LEAST}, but got {value}")
    if value > most:
        raise UsageError(f"{flag} must not be more than {most}, but got {value}")
