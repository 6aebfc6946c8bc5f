"""Table rows of signing requests, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import human_duration


def certificate_signing_request_cells(obj: Object, now: datetime) -> list[Any]:
    """Return requester, signer, duration and the state of the request."""
    spec = cells.spec_of(obj)
    seconds = spec.get("expirationSeconds")
    return [
        cells.name(obj),
        cells.age(obj, now),
        spec.get("signerName") or cells.NONE,
        spec.get("username") or "",
        cells.NONE if seconds is None else human_duration(seconds),
        _condition(cells.status_of(obj)),
    ]


def _condition(status: Object) -> str:
    """Return the decision, and whether the certificate was issued."""
    types = {item.get("type") for item in status.get("conditions") or ()}
    words = ["Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"]
    if "Failed" in types:
        words.append("Failed")
    if status.get("certificate"):
        words.append("Issued")
    return ",".join(words)
