"""How a Secret is created and updated.

Source: kubernetes pkg/registry/core/secret/strategy.go.
"""

from __future__ import annotations

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class SecretStrategy(Strategy):
    """Confidential data of some type: credentials, keys, certificates."""

    def default(self, obj: Object) -> None:
        """Fill in the type and merge ``stringData``."""
        from hyperkube_api.core.secrets.defaults import default_secret

        default_secret(obj)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep the type if the update leaves it out."""
        if not obj.get("type"):
            obj["type"] = old.get("type", "Opaque")

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check keys, size, and what the type demands."""
        from hyperkube_api.core.secrets.validation import validate_secret

        return validate_secret(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that type and immutable data stayed."""
        from hyperkube_api.core.secrets.validation import validate_secret_update

        return validate_secret_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of a TLS secret whose certificate and key do not match."""
        from hyperkube_api.core.secrets.warnings import secret_warnings

        return secret_warnings(obj)
