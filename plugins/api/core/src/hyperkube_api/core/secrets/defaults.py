"""Defaults of Secrets.

Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_Secret).
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def default_secret(secret: Object) -> None:
    """Fill in a secret: its type, and ``stringData`` merged into ``data``."""
    if not secret.get("type"):
        secret["type"] = "Opaque"
    texts = secret.pop("stringData", None)
    if texts:
        from base64 import b64encode

        data = secret.get("data") or {}
        data.update({key: b64encode(text.encode()).decode() for key, text in texts.items()})
        secret["data"] = data
