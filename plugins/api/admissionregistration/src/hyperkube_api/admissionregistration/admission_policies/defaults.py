"""Defaults of admission policies; in place and idempotent.

Source: kubernetes pkg/apis/admissionregistration/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube_api.meta.defaults import set_defaults

from hyperkube.machinery.objects import Object


def default_policy(policy: Object) -> None:
    """Fill in a validating or mutating admission policy."""
    from hyperkube_api.admissionregistration.matching import default_match

    spec = policy["spec"]
    set_defaults(spec, failurePolicy="Fail")
    default_match(spec.get("matchConstraints"))
