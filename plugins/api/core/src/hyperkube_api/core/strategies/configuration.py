"""ConfigMaps, Secrets and ServiceAccounts.

Source: kubernetes pkg/registry/core/{configmap,secret,serviceaccount}.
"""

from __future__ import annotations

from hyperkube_api.core.defaults.objects import default_secret
from hyperkube_api.core.validation.configuration import (
    validate_config_map,
    validate_config_map_update,
    validate_secret,
    validate_secret_update,
)

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class ConfigMapStrategy(Strategy):
    """Configuration that pods read."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check keys and size."""
        return validate_config_map(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check keys and size, and that an immutable one stayed as it was."""
        return validate_config_map_update(obj, old)


class SecretStrategy(Strategy):
    """Configuration that not everybody may read."""

    def default(self, obj: Object) -> None:
        """Fill in the type and merge ``stringData``."""
        default_secret(obj)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep the type if the update leaves it out."""
        if not obj.get("type"):
            obj["type"] = old.get("type", "Opaque")

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check keys, size, and what the type demands."""
        return validate_secret(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that type and immutable data stayed."""
        return validate_secret_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say when a TLS secret holds something else."""
        from hyperkube_api.core.warnings import secret_warnings

        return secret_warnings(obj)


class ServiceAccountStrategy(Strategy):
    """An identity for pods."""

    returns_deleted_object = True

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say when secrets are listed that nothing reads any more."""
        from hyperkube_api.core.warnings import service_account_warnings

        return service_account_warnings(obj, old)
