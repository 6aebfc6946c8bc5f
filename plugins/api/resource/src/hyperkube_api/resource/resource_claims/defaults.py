"""Defaults of ResourceClaims; in place and idempotent.

Source: kubernetes pkg/apis/resource/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def default_claim_spec(spec: Object) -> None:
    """Fill in what a claim asks for: one device of each request, unless it says otherwise."""
    for request in (spec.get("devices") or {}).get("requests") or ():
        exactly = request.get("exactly")
        if exactly is not None:
            _default_request(exactly)
        for alternative in request.get("firstAvailable") or ():
            _default_request(alternative)


def _default_request(request: Object) -> None:
    if not request.get("allocationMode"):
        request["allocationMode"] = "ExactCount"
    if request["allocationMode"] == "ExactCount" and not request.get("count"):
        request["count"] = 1
    for toleration in request.get("tolerations") or ():
        if not toleration.get("operator"):
            toleration["operator"] = "Equal"
