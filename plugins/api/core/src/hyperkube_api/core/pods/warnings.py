"""Warnings for pods.

Source: kubernetes pkg/api/pod/warnings.go, pkg/registry/core/pod/strategy.go.
"""

from __future__ import annotations

import orjson
from hyperkube_api.core.pod_specs.warnings.names import pod_name_warnings
from hyperkube_api.core.pod_specs.warnings.pod_spec import pod_spec_warnings

from hyperkube.machinery.field import ROOT
from hyperkube.machinery.objects import Object, annotations_of
from hyperkube.machinery.recent import TEMPLATE_MAX, TEMPLATES, Recent

_spec_warnings: Recent[bytes, tuple[str, ...]] = Recent(TEMPLATES)


def pod_warnings(pod: Object, old: Object | None) -> list[str]:
    """Return the warnings for a new pod; updates of pods are made by machines."""
    return pod_name_warnings(pod) + _spec_warnings_once(pod) if old is None else []


def _spec_warnings_once(pod: Object) -> list[str]:
    """Return the warnings for a specification; those for the pods of one template are worked out once."""
    key = orjson.dumps((pod.get("spec"), annotations_of(pod)))
    known = _spec_warnings.get(key)
    if known is not None:
        return list(known)
    found = pod_spec_warnings(ROOT, pod)
    if len(key) <= TEMPLATE_MAX:
        _spec_warnings.keep(key, tuple(found))
    return found
