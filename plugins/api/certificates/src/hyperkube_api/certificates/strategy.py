"""Certificate signing requests: the requester is recorded on creation, and each part has its own writers.

Source: kubernetes pkg/registry/certificates/certificates/strategy.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.names import path_segment_name, path_segment_prefix
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time


class CertificateSigningRequestStrategy(StatusStrategy):
    """A request for a certificate, whose specification never changes."""

    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {
        "": ("spec", "status"),
        "status": ("spec", "status.conditions"),
        "approval": ("spec", "status.certificate"),
    }

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check a path segment."""
        return path_segment_prefix(name) if prefix else path_segment_name(name)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Record the requester."""
        spec = obj["spec"]
        for member in ("username", "uid", "groups", "extra"):
            spec.pop(member, None)
        spec["username"] = call.user.name
        if call.user.uid:
            spec["uid"] = call.user.uid
        if call.user.groups:
            spec["groups"] = list(call.user.groups)
        if call.user.extra:
            spec["extra"] = {key: list(values) for key, values in call.user.extra.items()}

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep the specification."""
        obj["spec"] = old["spec"]

    def prepare_status_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep the specification; that conditions of a decision go through ``/approval`` is validated below."""
        obj["spec"] = old["spec"]
        _stamp(call, obj, old)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check request, usages and signer."""
        from hyperkube_api.certificates.validation import validate_request

        return validate_request(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that conditions stayed."""
        from hyperkube_api.certificates.validation import validate_request_update

        return validate_request_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the certificate and the conditions."""
        from hyperkube_api.certificates.validation import validate_status_update

        return validate_status_update(obj, old)


class CertificateApprovalStrategy(CertificateSigningRequestStrategy):
    """``/approval``: the request is approved or denied."""

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Take the conditions, keep everything else."""
        conditions = (obj.get("status") or {}).get("conditions")
        status = {key: value for key, value in (old.get("status") or {}).items() if key != "conditions"}
        obj["spec"], obj["status"] = old["spec"], {**status, **({"conditions": conditions} if conditions else {})}
        _stamp(call, obj, old)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the conditions."""
        from hyperkube_api.certificates.validation import validate_approval_update

        return validate_approval_update(obj, old)


def _stamp(call: Call, obj: Object, old: Object) -> None:
    """Set the times of the last update and the last transition of each condition."""
    now = format_time(call.clock.now())
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
    stamp_transitions(call, obj, old)


def stamp_transitions(call: Call, obj: Object, old: Object) -> None:
    """Set the time of the last transition of each condition that has none: that of before, if it was so before."""
    now = format_time(call.clock.now())
    before = {item.get("type"): item for item in (old.get("status") or {}).get("conditions") or ()}
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if not condition.get("lastTransitionTime"):
            same = before.get(condition.get("type"))
            kept = same is not None and same.get("status") == condition.get("status")
            condition["lastTransitionTime"] = same["lastTransitionTime"] if kept and same else now
