"""How a Secret is created and updated.

Source: kubernetes pkg/registry/core/secret/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object

_default_secret: OnFirstUse[None] = OnFirstUse("hyperkube_api.core.secrets.defaults:default_secret")
_validate_secret: OnFirstUse[list[FieldError]] = OnFirstUse("hyperkube_api.core.secrets.validation:validate_secret")
_validate_secret_update: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.core.secrets.validation:validate_secret_update"
)
_secret_warnings: OnFirstUse[list[str]] = OnFirstUse("hyperkube_api.core.secrets.warnings:secret_warnings")


class SecretStrategy(Strategy):
    """Confidential data of some type: credentials, keys, certificates."""

    def default(self, obj: Object) -> None:
        """Fill in the type and merge ``stringData``."""
        _default_secret.call(obj)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep the type if the update leaves it out."""
        if not obj.get("type"):
            obj["type"] = old.get("type", "Opaque")

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check keys, size, and what the type demands."""
        return _validate_secret.call(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that type and immutable data stayed."""
        return _validate_secret_update.call(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of a TLS secret whose certificate and key do not match."""
        return _secret_warnings.call(obj)
