"""API services: which server answers for a group version.

Source: kubernetes kube-aggregator pkg/registry/apiservice and pkg/apis/apiregistration/validation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.meta.defaults import HTTPS_PORT
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, invalid, required
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time

_SPEC = ROOT.child("spec")


class APIServiceStrategy(StatusStrategy):
    """Who serves a group version: this server, or one behind a service."""

    allow_unconditional_update = False
    plain_finalizers = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("spec", "metadata")}

    def default(self, obj: Object) -> None:
        """Fill in the service's port."""
        service = (obj.get("spec") or {}).get("service")
        if service is not None and service.get("port") is None:
            service["port"] = HTTPS_PORT

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Set a local API service available; the aggregator checks all others."""
        if obj["spec"].get("service") is None:
            obj["status"] = {
                "conditions": [
                    {
                        "type": "Available",
                        "status": "True",
                        "lastTransitionTime": format_time(call.clock.now()),
                        "reason": "Local",
                        "message": "Local APIServices are always available",
                    }
                ]
            }

    def validate_object_name(self, obj: Object, name: str, *, prefix: bool) -> list[str]:
        """Return why the name is not that of the group version; of what cannot be in a path nothing else is said."""
        wanted = f"{obj['spec'].get('version') or ''}.{obj['spec'].get('group') or ''}"
        wrong = names.path_segment_name(name)
        return wrong or ([f'must be `spec.version+"."+spec.group`: "{wanted}"'] if name != wanted else [])

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check name, priorities and service."""
        spec = obj["spec"]
        group, version = spec.get("group") or "", spec.get("version") or ""
        errors: list[FieldError] = []
        if group:
            errors += [invalid(_SPEC.child("group"), group, text) for text in names.dns1123_subdomain(group)]
        elif version != "v1":
            errors.append(
                required(_SPEC.child("group"), "only v1 may have an empty group and it better be legacy kube")
            )
        errors += [invalid(_SPEC.child("version"), version, text) for text in names.dns1035_label(version)]
        for member, high in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
            value = spec.get(member) or 0
            if not 0 < value <= high:
                text = f"must be positive and less than {high}"
                errors.append(invalid(_SPEC.child(member), value, text))
        return errors + _service(spec)


def _service(spec: Object) -> list[FieldError]:
    service = spec.get("service")
    errors: list[FieldError] = []
    if service is None:
        if spec.get("caBundle"):
            errors.append(invalid(_SPEC.child("caBundle"), "<bytes>", "local APIServices may not have a caBundle"))
        if spec.get("insecureSkipTLSVerify"):
            text = "local APIServices may not have insecureSkipTLSVerify"
            errors.append(invalid(_SPEC.child("insecureSkipTLSVerify"), True, text))
        return errors
    errors += [required(_SPEC.child("service", member)) for member in ("namespace", "name") if not service.get(member)]
    port = service.get("port")
    if port is not None and names.port_number(port):
        text = "port is not valid: " + ",".join(names.port_number(port))
        errors.append(invalid(_SPEC.child("service", "port"), port, text))
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        text = "may not be true if caBundle is present"
        errors.append(invalid(_SPEC.child("insecureSkipTLSVerify"), True, text))
    return errors
