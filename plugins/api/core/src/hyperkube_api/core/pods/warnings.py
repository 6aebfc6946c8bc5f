"""Warnings for pods.

Source: kubernetes pkg/api/pod/warnings.go, pkg/registry/core/pod/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.warnings.names import pod_name_warnings
from hyperkube_api.core.pod_specs.warnings.pod_spec import pod_spec_warnings

from hyperkube.machinery.field import ROOT
from hyperkube.machinery.objects import Object


def pod_warnings(pod: Object, old: Object | None) -> list[str]:
    """Return the warnings for a new pod; updates of pods are made by machines."""
    return pod_name_warnings(pod) + pod_spec_warnings(ROOT, pod) if old is None else []
