"""How a ConfigMap is created and updated.

Source: kubernetes pkg/registry/core/configmap/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.core.config_maps.validation import validate_config_map, validate_config_map_update

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
