"""Pod certificate requests: kubelets ask signers for certificates of pods.

Source: kubernetes pkg/registry/certificates/podcertificaterequest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from hyperkube_api.certificates.pod_certificate_status import validate_status
from hyperkube_api.certificates.pod_certificate_validation import SPEC, validate_spec
from hyperkube_api.certificates.strategy import stamp_transitions
from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.specs import Version, fields
from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.meta.validation import unchanged

from hyperkube.hookspecs.api import Call, ResourceSpec
from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.field import FieldError, forbidden, quote
from hyperkube.machinery.objects import Object

_TERMINAL = ("Issued", "Denied", "Failed")


class PodCertificateRequestStrategy(StatusStrategy):
    """A request whose specification never changes."""

    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("spec",)}

    allow_unconditional_update = False

    def prepare_status_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep conditions that were there, and date new ones."""
        now, before = _conditions(obj), _conditions(old)
        for kind in _TERMINAL:
            places = [index for index, condition in enumerate(now) if condition.get("type") == kind]
            kept = [condition for condition in before if condition.get("type") == kind]
            if len(places) == len(kept):
                for place, condition in zip(places, kept, strict=True):
                    now[place] = condition
        stamp_transitions(call, obj, old)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check whom the certificate is for, who signs it, for how long, and that the key is the requester's."""
        return validate_spec(obj.get("spec") or {})

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the specification stayed."""
        return unchanged(SPEC, obj.get("spec"), old.get("spec"))

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the signer's answer, and that the user who wrote a certificate may sign for that signer."""
        errors = validate_status(obj, old, call.clock.now())
        chains = [(each.get("status") or {}).get("certificateChain") or "" for each in (obj, old)]
        signer = str((old.get("spec") or {}).get("signerName") or "")
        if errors or chains[0] == chains[1] or _may_sign(call, signer):
            return errors
        text = f'User {quote(call.user.name)} is not permitted to "sign" for signer {quote(signer)}'
        return [forbidden(SPEC.child("signerName"), text)]


def _conditions(obj: Object) -> list[Object]:
    return (obj.get("status") or {}).get("conditions") or []


def _may_sign(call: Call, signer: str) -> bool:
    """Tell whether the user may sign for that signer by name, or for all of its domain."""
    names = (signer, f"{signer.partition('/')[0]}/*")
    asked = (
        Attributes(user=call.user, verb="sign", group="certificates.k8s.io", version="*", resource="signers", name=name)
        for name in names
    )
    return any(call.authorizer.authorize(attributes).allowed for attributes in asked)


def state(obj: Object) -> str:
    """Return what has become of a request: Issued, Denied, Failed, or Pending."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next((str(entry["type"]) for entry in conditions if entry.get("status") == "True"), "Pending")


def pod_certificate_request_cells(obj: Object, _now: datetime) -> list[Any]:
    """Return whom the certificate is for, who signs it, and what has become of the request."""
    spec = cells.spec_of(obj)
    row = [spec.get(member) or "" for member in ("podName", "serviceAccountName", "nodeName", "signerName")]
    annotations = cells.labels(spec.get("unverifiedUserAnnotations"))
    return [cells.name(obj), *row, state(obj), annotations]


def pod_certificate_requests(version: Version) -> ResourceSpec:
    """Return the specification of the resource ``podcertificaterequests``."""
    titles = ("PodName", "ServiceAccountName", "NodeName", "SignerName", "State", "UnverifiedUserAnnotations")
    return version.resource(
        "podcertificaterequests",
        "PodCertificateRequest",
        served=False,
        storage_prefix="podcertificaterequests",
        storage_version_hash="wYA9yXQH8fg=",
        strategy=PodCertificateRequestStrategy(),
        columns=(NAME, *(column(title) for title in titles)),
        cells=pod_certificate_request_cells,
        fields=fields("spec.nodeName", "spec.signerName", "spec.podName"),
        subresources=(version.status("PodCertificateRequest"),),
    )
