"""How a node is created and updated.

Source: kubernetes pkg/registry/core/node/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.core.nodes.defaults import default_node
from hyperkube_api.core.nodes.validation import validate_node, validate_node_status_update, validate_node_update
from hyperkube_api.core.nodes.warnings import node_warnings
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


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
        first = (spec.get("podCIDRs") or [""])[0]
        if spec.get("podCIDR") and spec["podCIDR"] != first:
            spec["podCIDRs"] = [spec["podCIDR"]]
        elif first:
            spec["podCIDR"] = first

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
        """Warn of deprecated fields."""
        return node_warnings(obj)
