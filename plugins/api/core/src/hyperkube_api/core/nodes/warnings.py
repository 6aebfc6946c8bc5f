"""Warnings for nodes.

Source: kubernetes pkg/registry/core/node/strategy.go (fieldIsDeprecatedWarnings).
"""

from __future__ import annotations

from hyperkube_api.core.ip_warnings import cidr_warnings

from hyperkube.machinery.field import ROOT
from hyperkube.machinery.objects import Object


def node_warnings(node: Object) -> list[str]:
    """Return the warnings for a node."""
    spec, path = node.get("spec") or {}, ROOT.child("spec")
    found: list[str] = []
    if spec.get("configSource") is not None:
        found.append(f"{path.child('configSource')}: the feature is removed")
    if spec.get("externalID"):
        found.append(f"{path.child('externalID')}: this field is deprecated, and is unused by Kubernetes")
    for index, text in enumerate(spec.get("podCIDRs") or ()):
        found += cidr_warnings(path.child("podCIDRs").index(index), text)
    return found
