"""ServiceCIDRs: where cluster IPs come from.

Source: kubernetes pkg/apis/networking, pkg/registry/networking/servicecidr, pkg/printers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.meta.validation import IMMUTABLE, cidr, loose_network
from hyperkube_api.networking.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, quote, required
from hyperkube.machinery.objects import Object

_CIDRS = ROOT.child("spec", "cidrs")


def validate_service_cidr(obj: Object) -> list[FieldError]:
    """Check one range, or one of each family."""
    spec = obj.get("spec") or {}
    ranges = spec.get("cidrs") or []
    if not ranges:
        return [required(_CIDRS, "at least one CIDR required")]
    shown = {"CIDRs": ranges}
    if len(ranges) > 2:
        return [invalid(_CIDRS, shown, "may only hold up to 2 values")]
    families = [network.version for network in map(loose_network, ranges) if network is not None]
    if len(families) == 2 and set(families) != {4, 6}:
        text = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
        return [invalid(_CIDRS, shown, text)]
    return [error for index, text in enumerate(ranges) for error in _range(_CIDRS.index(index), text)]


def _range(path: Path, text: str) -> list[FieldError]:
    errors, network = cidr(path, text), loose_network(text)
    if errors or network is None or str(network) == text:
        return errors
    return [invalid(path, text, f"must be in canonical form ({quote(str(network))})")]


def validate_service_cidr_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that the ranges stayed, apart from a second family that may be added."""
    now, before = (obj.get("spec") or {}).get("cidrs") or [], (old.get("spec") or {}).get("cidrs") or []
    if len(now) == len(before):
        return [
            invalid(_CIDRS.index(index), text, IMMUTABLE) for index, text in enumerate(now) if text != before[index]
        ]
    if len(before) == 1 and len(now) == 2:
        errors = [] if now[0] == before[0] else [invalid(_CIDRS.index(0), now[0], IMMUTABLE)]
        return errors + validate_service_cidr(obj)
    return [invalid(_CIDRS, now or None, IMMUTABLE)]


def service_cidr_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the ranges."""
    return [cells.name(obj), ",".join(cells.spec_of(obj).get("cidrs") or ()), cells.age(obj, now)]


class ServiceCIDRStrategy(StatusStrategy):
    """Where cluster IPs come from."""

    metadata_checks = ("change",)
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the ranges."""
        return validate_service_cidr(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the ranges stayed, apart from a second family."""
        return validate_service_cidr_update(obj, old)


def service_cidrs() -> ResourceSpec:
    """Return the specification of the resource ``servicecidrs``."""
    return V1.resource(
        "servicecidrs",
        "ServiceCIDR",
        namespaced=False,
        storage_prefix="servicecidrs",
        storage_version_hash="gNLvruQhW2g=",
        strategy=ServiceCIDRStrategy(),
        columns=(NAME, column("CIDRs", field="spec.cidrs"), AGE),
        cells=service_cidr_cells,
        subresources=(V1.status("ServiceCIDR"),),
    )
