"""Namespaces and nodes.

Source: kubernetes pkg/registry/core/{namespace,node}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.core.defaults.objects import default_namespace, default_node
from hyperkube_api.core.validation.cluster import (
    validate_namespace,
    validate_namespace_finalize,
    validate_namespace_status_update,
    validate_node,
    validate_node_status_update,
    validate_node_update,
)
from hyperkube_api.core.warnings import node_warnings
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.names import dns1123_label
from hyperkube.machinery.objects import Object

KUBERNETES_FINALIZER = "kubernetes"


class NamespaceStrategy(StatusStrategy):
    """A namespace: it goes only once its finalizers are done with what it holds."""

    returns_deleted_object = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {
        "": ("status",),
        "status": ("spec",),
        "finalize": ("status",),
    }

    def default(self, obj: Object) -> None:
        """Label the namespace with its name."""
        default_namespace(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Start active, and let the namespace controller have the last word."""
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
        """Show that the namespace is going."""
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


class NodeStrategy(StatusStrategy):
    """A node, as its kubelet and its operator describe it; it registers with its status."""

    keeps_status_on_create = True

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Drop the configuration source: kubelets do not read it any more."""
        (obj.get("spec") or {}).pop("configSource", None)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Drop the configuration source unless it was there."""
        if (old.get("spec") or {}).get("configSource") is None:
            (obj.get("spec") or {}).pop("configSource", None)

    def default(self, obj: Object) -> None:
        """Fill in what can be allocated; keep both spellings of the pod range in step."""
        default_node(obj)
        spec = obj.get("spec") or {}
        if spec.get("podCIDR") and not spec.get("podCIDRs"):
            spec["podCIDRs"] = [spec["podCIDR"]]
        elif spec.get("podCIDRs") and not spec.get("podCIDR"):
            spec["podCIDR"] = spec["podCIDRs"][0]

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check taints, ranges and amounts."""
        return validate_node(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the pod range and the provider id stayed."""
        return validate_node_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check what a kubelet reports."""
        return validate_node_status_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is allowed but out of use."""
        return node_warnings(obj)
