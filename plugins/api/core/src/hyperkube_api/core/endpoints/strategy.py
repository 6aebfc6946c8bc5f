"""How endpoints are created and updated.

Source: kubernetes pkg/registry/core/endpoint/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.core.endpoints.defaults import default_endpoints
from hyperkube_api.core.endpoints.validation import validate_endpoints
from hyperkube_api.core.endpoints.warnings import endpoints_warnings
from hyperkube_api.meta.loopback import KnownEndpoints, loopback_rule, target_of

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
        return validate_endpoints(obj, loopback=loopback_rule(call))

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check addresses and ports that changed."""
        return validate_endpoints(obj, old, loopback=loopback_rule(call, lambda: _known(old)))

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of addresses that are not in canonical form."""
        return endpoints_warnings(obj)


def _known(endpoints: Object) -> KnownEndpoints:
    return {
        target_of(address, address.get("ip") or "")
        for subset in endpoints.get("subsets") or ()
        for member in ("addresses", "notReadyAddresses")
        for address in subset.get(member) or ()
    }
