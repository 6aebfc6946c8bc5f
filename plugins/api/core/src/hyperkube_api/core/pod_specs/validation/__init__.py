"""What is wrong with a pod's specification or template.

The rules take a dozen modules, which a server needs with the first pod or workload, not to start: they are imported by
the first check.
"""

from __future__ import annotations

from hyperkube.machinery.field import FieldError, Path
from hyperkube.machinery.objects import Object


def validate_template(path: Path, template: Object | None, *, privileged: bool = True) -> list[FieldError]:
    """Check a pod template; `privileged`: the cluster allows privileged containers."""
    from hyperkube_api.core.pod_specs.validation import pod_spec

    return pod_spec.validate_template(path, template, privileged=privileged)


def validate_template_metadata(path: Path, template: Object) -> list[FieldError]:
    """Check labels and annotations of a pod template."""
    from hyperkube_api.core.pod_specs.validation import pod_spec

    return pod_spec.validate_template_metadata(path, template)
