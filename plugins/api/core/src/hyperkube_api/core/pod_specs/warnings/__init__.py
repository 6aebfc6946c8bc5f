"""What is allowed in a pod's specification or template and yet unwise.

Like the rules of validation these are imported by the first pod or workload.
"""

from __future__ import annotations

from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.machinery.objects import Object

_template_warnings: OnFirstUse[list[str]] = OnFirstUse(
    "hyperkube_api.core.pod_specs.warnings.pod_spec:template_warnings"
)


def template_warnings(template: Object | None, path: str, old: Object | None) -> list[str]:
    """Return the warnings for the pod template at `path`."""
    return _template_warnings.call(template, path, old)
