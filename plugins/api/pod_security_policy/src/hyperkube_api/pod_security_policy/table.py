"""Table rows of pod security policies, as kubectl prints them.

Source: kubernetes 1.20 ``pkg/printers/internalversion/printers.go``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def pod_security_policy_cells(obj: Object, now: datetime) -> list[Any]:
    """Return what is allowed, in short."""
    del now  # no column shows the age
    spec = obj.get("spec") or {}
    rules = [
        (spec.get(member) or {}).get("rule") or ""
        for member in ("seLinux", "runAsUser", "fsGroup", "supplementalGroups")
    ]
    return [
        cells.name(obj),
        str(bool(spec.get("privileged"))).lower(),
        ",".join(spec.get("allowedCapabilities") or ()),
        *rules,
        str(bool(spec.get("readOnlyRootFilesystem"))).lower(),
        ",".join(spec.get("volumes") or ()),
    ]
