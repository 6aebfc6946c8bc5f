"""How endpoints are created and updated.

Source: kubernetes pkg/registry/core/endpoint/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.core.endpoints.defaults import default_endpoints
from hyperkube_api.core.endpoints.validation import validate_endpoints
from hyperkube_api.core.endpoints.warnings import endpoints_warnings
from hyperkube_api.meta.validation import LOOPBACK_GATE

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class EndpointsStrategy(Strategy):
    """The addresses behind a service in one object, which EndpointSlices replaced."""

    allow_create_on_update = True

    def default(self, obj: Object) -> None:
        """Fill in the ports' protocol."""
        default_endpoints(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check addresses and ports."""
        return validate_endpoints(obj, loopback=call.gates.get(LOOPBACK_GATE, False))

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check addresses and ports that changed."""
        return validate_endpoints(obj, old, loopback=call.gates.get(LOOPBACK_GATE, False))

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of addresses that are not in canonical form."""
        return endpoints_warnings(obj)
