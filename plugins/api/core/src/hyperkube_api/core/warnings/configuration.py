"""Warnings for secrets and service accounts.

Source: kubernetes pkg/registry/core/{secret,serviceaccount}/strategy.go.
"""

from __future__ import annotations

from base64 import b64decode

from hyperkube.machinery.field import ROOT
from hyperkube.machinery.objects import Object, annotations_of

MOUNTABLE_SECRETS = "kubernetes.io/enforce-mountable-secrets"


def secret_warnings(secret: Object) -> list[str]:
    """Return the warning for a TLS secret whose certificate and key are no pair."""
    if secret.get("type") != "kubernetes.io/tls":
        return []
    from hyperkube_api.core.warnings.key_pairs import key_pair_error  # needs cryptography, which is slow to import

    data = secret.get("data") or {}
    certificate, key = (b64decode(data.get(name) or "") for name in ("tls.crt", "tls.key"))
    error = key_pair_error(certificate, key)
    return [error] if error else []


def service_account_warnings(account: Object, old: Object | None) -> list[str]:
    """Return the warning for an annotation that will go."""
    if MOUNTABLE_SECRETS not in annotations_of(account) or (old and MOUNTABLE_SECRETS in annotations_of(old)):
        return []
    at = ROOT.child("metadata", "annotations").key(MOUNTABLE_SECRETS)
    return [f"{at}: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"]
