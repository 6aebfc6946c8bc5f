"""kms: values encrypted with the help of a key management service behind a unix socket, as of KMS v2."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hyperkube_storage.kms.envelope import Envelope
from hyperkube_storage.kms.service import KeyService

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.storage import ValueProvider
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import Plugin

__all__ = ["Envelope", "KeyService", "Kms"]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}
_DEFAULT_SECONDS = 3.0


class Kms(Plugin):
    """Makes a provider of each ``kms`` entry of an EncryptionConfiguration."""

    @hookimpl
    def storage_encrypt(self, provider: str, settings: Mapping[str, Any]) -> ValueProvider | None:
        """Return the provider of an entry: ``apiVersion: v2``, ``name``, ``endpoint`` and maybe ``timeout``."""
        if provider != "kms":
            return None
        name, endpoint = str(settings.get("name") or ""), str(settings.get("endpoint") or "")
        if settings.get("apiVersion") != "v2":
            raise UsageError("kms.apiVersion: only v2 is supported (v1 is deprecated and off in Kubernetes)")
        if not name or ":" in name:
            raise UsageError(f"kms.name: {name!r} must be a name without a colon")
        if not re.fullmatch(r"unix://(/[^/].*|@.+)", endpoint):
            raise UsageError(f"kms.endpoint: {endpoint!r} must be a unix socket such as unix:///run/kms.sock")
        return Envelope(name, KeyService(endpoint, _seconds(settings.get("timeout"))), self.context.clock)


def _seconds(text: Any) -> float:
    """Return a duration such as ``3s`` in seconds."""
    if not text:
        return _DEFAULT_SECONDS
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)", str(text))
    if found is None or not float(found[1]):
        raise UsageError(f"kms.timeout: {text!r} must be a duration such as 3s")
    return float(found[1]) * _UNITS[found[2]]
