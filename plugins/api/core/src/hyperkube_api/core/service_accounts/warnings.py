"""Warnings for service accounts.

Source: kubernetes pkg/registry/core/serviceaccount/strategy.go.
"""

from __future__ import annotations

from hyperkube.machinery.field import ROOT
from hyperkube.machinery.objects import Object, annotations_of

MOUNTABLE_SECRETS = "kubernetes.io/enforce-mountable-secrets"


def service_account_warnings(account: Object, old: Object | None) -> list[str]:
    """Return the warning for an annotation that will go."""
    if MOUNTABLE_SECRETS not in annotations_of(account) or (old and MOUNTABLE_SECRETS in annotations_of(old)):
        return []
    at = ROOT.child("metadata", "annotations").key(MOUNTABLE_SECRETS)
    return [f"{at}: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"]
