"""What is wrong with a pod template.

Source: kubernetes pkg/apis/core/validation (ValidatePodTemplate).
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.validation.pod_spec import validate_template

from hyperkube.machinery.field import ROOT, FieldError
from hyperkube.machinery.objects import Object


def validate_pod_template_object(obj: Object, *, privileged: bool = True) -> list[FieldError]:
    """Check a PodTemplate; `privileged`: the cluster allows privileged containers."""
    return validate_template(ROOT.child("template"), obj.get("template") or {}, privileged=privileged)
