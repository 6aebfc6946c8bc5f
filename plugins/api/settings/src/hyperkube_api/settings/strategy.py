"""Pod presets: what happens when one is created, changed or deleted.

Source: kubernetes ``pkg/apis/settings/validation``, ``pkg/registry/settings/podpreset`` (1.19).
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.defaults import default_env_source
from hyperkube_api.core.volumes.defaults import default_volumes
from hyperkube_api.meta.validation import label_selector

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import ROOT, FieldError, required
from hyperkube.machinery.objects import Object

_PARTS = ("volumes", "env", "envFrom", "volumeMounts")


class PodPresetStrategy(Strategy):
    """Something to be added to pods."""

    allow_unconditional_update = True

    def default(self, obj: Object) -> None:
        """Complete what is added as it would be in a pod, so that equal things compare as equal."""
        spec = obj.get("spec") or {}
        default_volumes(spec.get("volumes") or ())
        for variable in spec.get("env") or ():
            if variable.get("valueFrom"):
                default_env_source(variable["valueFrom"])

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the selector and everything that is added, of which there must be something."""
        # A server starts without the rules of pods.
        from hyperkube_api.core.pod_specs.validation.environment import validate_env, validate_env_from
        from hyperkube_api.core.pod_specs.validation.mounts import validate_mounts
        from hyperkube_api.core.volumes.validation.volumes import validate_volumes

        spec, path = obj.get("spec") or {}, ROOT.child("spec")
        errors = label_selector(path.child("selector"), spec.get("selector"))
        if all(spec.get(part) is None for part in _PARTS):
            errors.append(required(path.child(*_PARTS), "must specify at least one"))
        volumes = spec.get("volumes") or []
        errors += validate_volumes(path.child("volumes"), volumes)
        errors += validate_env(path.child("env"), spec.get("env"))
        errors += validate_env_from(path.child("envFrom"), spec.get("envFrom"))
        known = {str(volume.get("name") or ""): volume for volume in volumes}
        return errors + validate_mounts(path.child("volumeMounts"), spec, known)
