"""Warnings for secrets and service accounts.

Source: kubernetes pkg/registry/core/{secret,serviceaccount}/strategy.go.
"""

from __future__ import annotations

from base64 import b64decode

from hyperkube.machinery.field import ROOT
from hyperkube.machinery.objects import Object, annotations_of

MOUNTABLE_SECRETS = "kubernetes.io/enforce-mountable-secrets"


def secret_warnings(secret: Object) -> list[str]:
    """Return the warning for a TLS secret that holds no certificate."""
    if secret.get("type") != "kubernetes.io/tls":
        return []
    data = secret.get("data") or {}
    certificate, key = (b64decode(data.get(name) or "") for name in ("tls.crt", "tls.key"))
    if b"-----BEGIN" not in certificate:
        return ["tls: failed to find any PEM data in certificate input"]
    if b"-----BEGIN" not in key:
        return ["tls: failed to find any PEM data in key input"]
    return []


def service_account_warnings(account: Object, old: Object | None) -> list[str]:
    """Return the warning for an annotation that will go."""
    if MOUNTABLE_SECRETS not in annotations_of(account) or (old and MOUNTABLE_SECRETS in annotations_of(old)):
        return []
    at = ROOT.child("metadata", "annotations").key(MOUNTABLE_SECRETS)
    return [f"{at}: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"]
