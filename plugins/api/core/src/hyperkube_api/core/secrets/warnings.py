"""Warnings for secrets.

Source: kubernetes pkg/registry/core/secret/strategy.go.
"""

from __future__ import annotations

from base64 import b64decode

from hyperkube.machinery.objects import Object


def secret_warnings(secret: Object) -> list[str]:
    """Return the warning for a TLS secret whose certificate and key are no pair."""
    if secret.get("type") != "kubernetes.io/tls":
        return []
    from hyperkube_api.core.secrets.key_pairs import key_pair_error  # needs cryptography, which is slow to import

    data = secret.get("data") or {}
    certificate, key = (b64decode(data.get(name) or "") for name in ("tls.crt", "tls.key"))
    error = key_pair_error(certificate, key)
    return [error] if error else []
