"""IngressClasses: which controller serves an Ingress.

Source: kubernetes pkg/apis/networking, pkg/registry/networking/ingressclass, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.validation import by_rule, unchanged
from hyperkube_api.networking.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, not_supported, required, too_long
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")


def default_ingress_class(ingress_class: Object) -> None:
    """Parameters of an ingress class are cluster-wide unless their scope is given."""
    parameters = (ingress_class.get("spec") or {}).get("parameters")
    if parameters and parameters.get("scope") is None:
        parameters["scope"] = "Cluster"


def validate_ingress_class(obj: Object) -> list[FieldError]:
    """Check an ingress class."""
    spec = obj.get("spec") or {}
    controller, path = spec.get("controller") or "", _SPEC.child("controller")
    errors: list[FieldError] = []
    if len(controller) > 250:
        errors.append(too_long(path, 250))
    errors += by_rule(path, controller, names.domain_prefixed_path) if controller else [required(path)]
    parameters = spec.get("parameters")
    return errors + (_parameters(_SPEC.child("parameters"), parameters) if parameters is not None else [])


def _parameters(path: Path, parameters: Object) -> list[FieldError]:
    from hyperkube_api.networking.ingresses.validation import check_resource_reference

    errors = check_resource_reference(path, parameters, terse=True)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        return [*errors, required(path.child("scope"))]
    if scope not in {"Cluster", "Namespace"}:
        errors.append(not_supported(path.child("scope"), scope, ("Cluster", "Namespace")))
    if scope == "Namespace":
        if not namespace:
            errors.append(required(path.child("namespace"), "`parameters.scope` is set to 'Namespace'"))
        else:
            errors += by_rule(path.child("namespace"), namespace, names.dns1123_label)
    if scope == "Cluster" and namespace is not None:
        errors.append(forbidden(path.child("namespace"), "`parameters.scope` is set to 'Cluster'"))
    return errors


def validate_ingress_class_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of an ingress class."""
    now, before = (obj.get("spec") or {}).get("controller"), (old.get("spec") or {}).get("controller")
    return unchanged(_SPEC.child("controller"), now, before) + validate_ingress_class(obj)


def ingress_class_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the controller and its parameters."""
    spec = cells.spec_of(obj)
    parameters = spec.get("parameters")
    shown = cells.NONE
    if parameters is not None:
        kind = parameters.get("kind") or ""
        group = "" if parameters.get("apiGroup") is None else f".{parameters['apiGroup']}"
        shown = f"{kind}{group}/{parameters.get('name') or ''}"
    return [cells.name(obj), spec.get("controller") or "", shown, cells.age(obj, now)]


class IngressClassStrategy(Strategy):
    """Which controller serves an ingress."""

    metadata_checks = ("change",)
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


def ingress_classes() -> ResourceSpec:
    """Return the specification of the resource ``ingressclasses``."""
    return V1.resource(
        "ingressclasses",
        "IngressClass",
        namespaced=False,
        storage_prefix="ingressclasses",
        storage_version_hash="l/iqIbDgFyQ=",
        strategy=IngressClassStrategy(),
        columns=(
            NAME,
            column("Controller", description="Controller that is responsible for handling this class"),
            column("Parameters", description="A reference to a resource with additional parameters"),
            AGE,
        ),
        cells=ingress_class_cells,
    )
