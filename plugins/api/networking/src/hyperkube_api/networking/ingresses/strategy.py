"""What happens when an Ingress is created, changed or deleted.

Source: kubernetes pkg/registry/networking/ingress.
"""

from __future__ import annotations

from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object, annotations_of


class IngressStrategy(StatusStrategy):
    """Which outside hosts and paths lead to which services."""

    metadata_checks = ("change",)
    generation = True

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check rules, backends and certificates of a new ingress."""
        from hyperkube_api.networking.ingresses.validation import validate_ingress

        return validate_ingress(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check rules, backends and certificates."""
        from hyperkube_api.networking.ingresses.validation import validate_ingress

        return validate_ingress(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check a load balancer's report."""
        from hyperkube_api.networking.ingresses.validation import validate_ingress_status

        return validate_ingress_status(obj)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of the deprecated annotation for the class."""
        from hyperkube_api.networking.ingresses.validation import CLASS_ANNOTATION

        named = (obj.get("spec") or {}).get("ingressClassName") is not None
        if old is None and CLASS_ANNOTATION in annotations_of(obj) and not named:
            return [f"annotation \"{CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"]
        return []
