"""Runtime classes: what the server decides when one is created or changed.

Source: kubernetes pkg/registry/node/runtimeclass and pkg/apis/node/validation.
"""

from __future__ import annotations

from hyperkube_api.core.validation.pod_specs import overhead
from hyperkube_api.core.validation.scheduling import validate_tolerations
from hyperkube_api.meta.validation import labels, named, unchanged

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import ROOT, FieldError
from hyperkube.machinery.names import dns1123_label
from hyperkube.machinery.objects import Object


class RuntimeClassStrategy(Strategy):
    """A way to run pods that nodes may offer."""

    allow_create_on_update = True
    allow_unconditional_update = False

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check handler, overhead and scheduling."""
        errors = named(ROOT.child("handler"), obj.get("handler"), dns1123_label)
        errors += overhead(ROOT.child("overhead"), (obj.get("overhead") or {}).get("podFixed"))
        scheduling, path = obj.get("scheduling") or {}, ROOT.child("scheduling")
        errors += labels(path.child("nodeSelector"), scheduling.get("nodeSelector"))
        return errors + validate_tolerations(path.child("tolerations"), scheduling.get("tolerations"))

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the handler stayed."""
        return unchanged(ROOT.child("handler"), obj.get("handler"), old.get("handler"))
