"""Pod security policies: what happens when one is created, changed or deleted.

Source: kubernetes 1.20 ``pkg/apis/policy/validation/validation.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.meta.validation import one_of

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, required
from hyperkube.machinery.objects import Object

_LARGEST_ID = 2**31 - 1
_USERS, _SELINUX = ("MustRunAs", "MustRunAsNonRoot", "RunAsAny"), ("MustRunAs", "RunAsAny")
_GROUPS = ("MayRunAs", "MustRunAs", "RunAsAny")
_ALL = "*"


class PodSecurityPolicyStrategy(Strategy):
    """What pods must be like."""

    allow_unconditional_update = True

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the rules, their ranges, and that capabilities do not contradict each other."""
        spec, path = obj.get("spec") or {}, ROOT.child("spec")
        errors = _rule(path.child("runAsUser"), spec.get("runAsUser"), _USERS)
        if spec.get("runAsGroup") is not None:
            errors += _rule(path.child("runAsGroup"), spec["runAsGroup"], _GROUPS)
        errors += _rule(path.child("seLinux"), spec.get("seLinux"), _SELINUX)
        errors += _rule(path.child("supplementalGroups"), spec.get("supplementalGroups"), _GROUPS)
        errors += _rule(path.child("fsGroup"), spec.get("fsGroup"), _GROUPS)
        errors += _capabilities(path, spec)
        escalates, default = spec.get("allowPrivilegeEscalation", True), spec.get("defaultAllowPrivilegeEscalation")
        if default and not escalates:
            text = (
                "Cannot set DefaultAllowPrivilegeEscalation to true without also setting"
                " AllowPrivilegeEscalation to true"
            )
            errors.append(invalid(path.child("defaultAllowPrivilegeEscalation"), default, text))
        return errors + _host_paths(path.child("allowedHostPaths"), spec.get("allowedHostPaths") or ())


def _rule(path: Path, options: Object | None, known: Sequence[str]) -> list[FieldError]:
    table = options or {}
    errors = one_of(path.child("rule"), table.get("rule"), known)
    for index, row in enumerate(table.get("ranges") or ()):
        errors += _range(path.child("ranges").index(index), int(row.get("min", 0)), int(row.get("max", 0)))
    return errors


def _range(path: Path, low: int, high: int) -> list[FieldError]:
    errors = []
    for member, value in (("min", low), ("max", high)):
        if value < 0:
            errors.append(invalid(path.child(member), value, f"{member} cannot be negative"))
        if value > _LARGEST_ID:
            errors.append(invalid(path.child(member), value, f"must be between 0 and {_LARGEST_ID}, inclusive"))
    if low > high:
        errors.append(invalid(path.child("min"), low, "min cannot be greater than max"))
    return errors


def _capabilities(path: Path, spec: Object) -> list[FieldError]:
    added, dropped = spec.get("defaultAddCapabilities") or (), spec.get("requiredDropCapabilities") or ()
    allowed = spec.get("allowedCapabilities") or ()
    text = "capability is listed in {0} and requiredDropCapabilities"
    errors = []
    if _ALL in dropped and (added or allowed):
        errors.append(
            invalid(
                path.child("requiredDropCapabilities"), list(dropped), "must be empty when all capabilities are dropped"
            )
        )
    for member, listed in (("defaultAddCapabilities", added), ("allowedCapabilities", allowed)):
        errors += [
            invalid(path.child(member), one, text.format(member)) for one in listed if one in dropped and one != _ALL
        ]
    return errors


def _host_paths(path: Path, rows: Sequence[Object]) -> list[FieldError]:
    errors = []
    for index, row in enumerate(rows):
        prefix = str(row.get("pathPrefix") or "")
        if not prefix:
            errors.append(required(path.index(index)))
        elif ".." in prefix.split("/"):
            errors.append(invalid(path.index(index).child("pathPrefix"), prefix, "must not contain '..'"))
    return errors
