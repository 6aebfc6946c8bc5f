"""What is allowed in a pod's specification or template and yet unwise.

Like the rules of validation these are imported by the first pod or workload.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def template_warnings(template: Object | None, path: str, old: Object | None) -> list[str]:
    """Return the warnings for the pod template at `path`."""
    from hyperkube_api.core.pod_specs.warnings import pod_spec

    return pod_spec.template_warnings(template, path, old)
