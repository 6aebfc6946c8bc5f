"""Runtime classes: what happens when one is created, changed or deleted.

Source: kubernetes pkg/registry/node/runtimeclass and pkg/apis/node/validation.
"""

from __future__ import annotations

from hyperkube_api.core.amounts import overhead
from hyperkube_api.core.nodes.deprecated_labels import DEPRECATED_LABELS
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import labels, named, unchanged

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate
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
        return errors + _tolerations(path.child("tolerations"), scheduling.get("tolerations") or [])

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the handler stayed."""
        return self.validate(call, obj) + unchanged(ROOT.child("handler"), obj.get("handler"), old.get("handler"))

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of deprecated labels in the node selector."""
        selector = (obj.get("scheduling") or {}).get("nodeSelector") or ()
        at = ROOT.child("scheduling", "nodeSelector")
        return [f"{at}: {DEPRECATED_LABELS[key]}" for key in sorted(selector) if key in DEPRECATED_LABELS]


def _tolerations(path: Path, tolerations: list[Object]) -> list[FieldError]:
    """Check tolerations, and that no two are equal."""
    from hyperkube_api.core.pod_specs.validation.scheduling import validate_tolerations

    errors = validate_tolerations(path, tolerations)
    seen: set[tuple[str, ...]] = set()
    for index, toleration in enumerate(tolerations):
        key = tuple(toleration.get(member) or "" for member in ("key", "operator", "value", "effect"))
        if key in seen:
            shown = go_shape("hyperkube_api.core.v1:Toleration", toleration)
            errors.append(duplicate(path.index(index), shown))
        seen.add(key)
    return errors
