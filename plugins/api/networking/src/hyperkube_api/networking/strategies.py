"""Network rules: what the server decides when one is created or changed.

Source: kubernetes pkg/registry/networking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.core.ip_warnings import cidr_warnings
from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.networking.defaults import default_ingress_class, default_network_policy
from hyperkube_api.networking.validation.addresses import (
    validate_ip_address,
    validate_ip_address_name,
    validate_ip_address_update,
    validate_service_cidr,
    validate_service_cidr_update,
)
from hyperkube_api.networking.validation.ingresses import (
    CLASS_ANNOTATION,
    validate_ingress,
    validate_ingress_class,
    validate_ingress_class_update,
    validate_ingress_status,
)
from hyperkube_api.networking.validation.policies import validate_network_policy

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import ROOT, FieldError, Path
from hyperkube.machinery.objects import Object, annotations_of


class IngressClassStrategy(Strategy):
    """Which controller serves an ingress."""

    generation = True

    def default(self, obj: Object) -> None:
        """Fill in the scope of the parameters."""
        default_ingress_class(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check controller and parameters."""
        return validate_ingress_class(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the controller stayed."""
        return validate_ingress_class_update(obj, old)


class IngressStrategy(StatusStrategy):
    """Which outside hosts and paths lead to which services."""

    generation = True

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check rules, backends and certificates of a new ingress."""
        return validate_ingress(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check rules, backends and certificates."""
        return validate_ingress(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check a load balancer's report."""
        return validate_ingress_status(obj)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say when the class is named the old way."""
        named = (obj.get("spec") or {}).get("ingressClassName") is not None
        if old is None and CLASS_ANNOTATION in annotations_of(obj) and not named:
            return [f"annotation \"{CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"]
        return []


class IPAddressStrategy(Strategy):
    """Who has a cluster IP; its name is the address."""

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check an IP address in its canonical form."""
        return [] if prefix else validate_ip_address_name(name)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check whose address it is."""
        return validate_ip_address(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that it stayed with its owner."""
        return validate_ip_address_update(obj, old)


class NetworkPolicyStrategy(Strategy):
    """Who may talk to whom."""

    generation = True

    def default(self, obj: Object) -> None:
        """Fill in protocols and directions."""
        default_network_policy(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check selectors, peers and ports."""
        return validate_network_policy(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation; ranges that are stored stay allowed."""
        return validate_network_policy(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say which ranges are written in an odd way."""
        return [
            text
            for member, peers in (("ingress", "from"), ("egress", "to"))
            for index, rule in enumerate((obj.get("spec") or {}).get(member) or ())
            for number, peer in enumerate(rule.get(peers) or ())
            for text in _block_warnings(
                ROOT.child("spec", member).index(index).child(peers).index(number).child("ipBlock"),
                peer.get("ipBlock") or {},
            )
        ]


def _block_warnings(path: Path, block: Object) -> list[str]:
    found = cidr_warnings(path.child("cidr"), block.get("cidr") or "")
    for index, text in enumerate(block.get("except") or ()):
        found += cidr_warnings(path.child("except").index(index), text)
    return found


class ServiceCIDRStrategy(StatusStrategy):
    """Where cluster IPs come from."""

    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the ranges."""
        return validate_service_cidr(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the ranges stayed, apart from a second family."""
        return validate_service_cidr_update(obj, old)
