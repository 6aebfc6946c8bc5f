"""How a namespace is created, updated and deleted.

Source: kubernetes pkg/registry/core/namespace/strategy.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.core.namespaces.defaults import default_namespace
from hyperkube_api.core.namespaces.validation import (
    validate_namespace,
    validate_namespace_finalize,
    validate_namespace_status_update,
)
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.names import dns1123_label
from hyperkube.machinery.objects import Object

KUBERNETES_FINALIZER = "kubernetes"


class NamespaceStrategy(StatusStrategy):
    """A namespace, which is deleted once the finalizers of its specification are gone."""

    returns_deleted_object = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {
        "": ("status",),
        "status": ("spec",),
        "finalize": ("status",),
    }

    def default(self, obj: Object) -> None:
        """Label the namespace with its name, and make it active without a phase."""
        default_namespace(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Start active, and add the finalizer of the namespace controller."""
        default_namespace(obj)
        obj["status"] = {"phase": "Active"}
        spec = obj.setdefault("spec", {})
        finalizers = spec.get("finalizers") or []
        if KUBERNETES_FINALIZER not in finalizers:
            spec["finalizers"] = [*finalizers, KUBERNETES_FINALIZER]

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep the finalizers of the specification: only ``/finalize`` writes them."""
        finalizers = (old.get("spec") or {}).get("finalizers")
        spec = {key: value for key, value in (obj.get("spec") or {}).items() if key != "finalizers"}
        obj["spec"] = {**spec, "finalizers": finalizers} if finalizers else spec

    def prepare_delete(self, call: Call, obj: Object) -> None:
        """Set the phase to Terminating."""
        obj.setdefault("status", {})["phase"] = "Terminating"

    def blocks_deletion(self, obj: Object) -> bool:
        """Wait for the finalizers of the specification."""
        return bool((obj.get("spec") or {}).get("finalizers"))

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check a DNS label."""
        return dns1123_label(name.rstrip("-") + "a" if prefix and name.endswith("-") else name)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the finalizers."""
        return validate_namespace(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check nothing: the finalizers are not what an update changes."""
        return []

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the phase fits."""
        return validate_namespace_status_update(obj)


class NamespaceFinalizeStrategy(NamespaceStrategy):
    """``/finalize``: a finalizer of the specification reports that it is done."""

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Take the specification, keep the status."""
        obj["status"] = old.get("status") or {}

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the finalizers that are left."""
        return validate_namespace_finalize(obj)
