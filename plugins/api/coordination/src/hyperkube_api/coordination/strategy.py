"""Leases: what happens when one is created, changed or deleted.

Source: kubernetes pkg/registry/coordination/lease and pkg/apis/coordination/validation.
"""

from __future__ import annotations

from hyperkube_api.meta.validation import counts

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported
from hyperkube.machinery.names import qualified_name
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
KNOWN_STRATEGY = "OldestEmulationVersion"


class LeaseStrategy(Strategy):
    """Who holds something, and until when."""

    metadata_checks = ("change",)
    allow_create_on_update = True
    allow_unconditional_update = False
    renewed = "renewTime"

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Drop what needs coordinated leader election where that is off."""
        _drop_ungated(call, obj, {})

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Drop what needs coordinated leader election where that is off and was never used."""
        _drop_ungated(call, obj, old.get("spec") or {})

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check duration and counts."""
        spec = obj.get("spec") or {}
        errors: list[FieldError] = []
        seconds, strategy = spec.get("leaseDurationSeconds"), spec.get("strategy")
        if seconds is not None and seconds <= 0:
            errors.append(invalid(_SPEC.child("leaseDurationSeconds"), seconds, "must be greater than 0"))
        errors += counts(_SPEC, spec, "leaseTransitions")
        if strategy is not None:
            errors += _strategy(_SPEC.child("strategy", "strategy"), strategy)  # Kubernetes names it twice
        if spec.get("preferredHolder") and not strategy:
            errors.append(forbidden(_SPEC.child("preferredHolder"), "may only be specified if `strategy` is defined"))
        return errors


def _strategy(path: Path, strategy: str) -> list[FieldError]:
    """Check how a leader is chosen: by a strategy of Kubernetes, or by one with a domain."""
    if "/" in strategy:
        return [invalid(path, strategy, text) for text in qualified_name(strategy)]
    return [] if strategy == KNOWN_STRATEGY else [not_supported(path, strategy, (KNOWN_STRATEGY,))]


def _drop_ungated(call: Call, obj: Object, old: Object) -> None:
    if call.gates.get("CoordinatedLeaderElection"):
        return
    for member in ("strategy", "preferredHolder"):
        if member not in old:
            (obj.get("spec") or {}).pop(member, None)
