"""AdmissionReview: what a webhook is asked, and what it may answer.

Source: kubernetes apiserver ``pkg/admission/plugin/webhook/request/admissionreview.go``,
``pkg/admission/plugin/webhook/errors``.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from dataclasses import field
from typing import Any

import orjson
from hyperkube_lib.dynamic_admission.request_values import request_identity, user_value

from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.field import quote
from hyperkube.machinery.objects import Object

GROUP = "admission.k8s.io"
VERSIONS = ("v1", "v1beta1")


class InvalidAnswer(Exception):
    """A webhook answered something that cannot be used; ``str()`` is Kubernetes' text."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a webhook said.

    Attributes:
        status: the ``Status`` that goes with a refusal.
        patch: JSON patch operations.
    """

    allowed: bool
    status: Object = field(default_factory=dict)
    patch: Sequence[Object] = ()
    warnings: Sequence[str] = ()
    annotations: dict[str, str] = field(default_factory=dict)


def chosen_version(webhook: Object) -> str:
    """Return the first version a webhook understands that we speak.

    Raises:
        InvalidAnswer: there is none.
    """
    for version in webhook.get("admissionReviewVersions") or ():
        if version in VERSIONS:
            return str(version)
    raise InvalidAnswer(
        "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)"
    )


def review(request: AdmissionRequest, version: str, uid: str) -> Object:
    """Return the review that asks about a request."""
    kind, resource = request.kind._asdict(), request.resource._asdict()
    asked: Object = {"uid": uid, "kind": kind, "resource": resource}
    if request.subresource:
        asked["subResource"] = request.subresource
    asked |= request_identity(request)
    if request.subresource:
        asked["requestSubResource"] = request.subresource
    if request.name:
        asked["name"] = request.name
    if request.namespace:
        asked["namespace"] = request.namespace
    asked |= {
        "operation": request.operation,
        "userInfo": user_value(request.user),
        "object": request.object,
        "oldObject": request.old_object,
        "dryRun": request.dry_run,
        "options": request.options or None,
    }
    return {"kind": "AdmissionReview", "apiVersion": f"{GROUP}/{version}", "request": asked}


def read_answer(body: bytes, version: str, uid: str, *, mutating: bool) -> Answer:
    """Read what a webhook answered.

    Raises:
        InvalidAnswer: it breaks the protocol.
    """
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _broken(f"couldn't get version/kind; json parse error: {error}") from error
    response = document.get("response") if isinstance(document, dict) else None
    if not isinstance(response, dict):
        raise _broken("webhook response was absent")
    if version == "v1":
        _check_identity(document, response, uid)
    return Answer(
        allowed=bool(response.get("allowed")),
        status=response.get("status") or {},
        patch=_patch(response, version) if mutating else (),
        warnings=response.get("warnings") or (),
        annotations=response.get("auditAnnotations") or {},
    )


def _broken(text: str) -> InvalidAnswer:
    return InvalidAnswer(f"received invalid webhook response: {text}")


def _check_identity(document: Object, response: Object, uid: str) -> None:
    if response.get("uid") != uid:
        raise _broken(f"expected response.uid={quote(uid)}, got {quote(str(response.get('uid') or ''))}")
    api_version, kind = document.get("apiVersion") or "", document.get("kind") or ""
    if (api_version, kind) != (f"{GROUP}/v1", "AdmissionReview"):
        wanted = f"{GROUP}/v1, Kind=AdmissionReview"
        raise _broken(f"expected webhook response of {wanted}, got {api_version}, Kind={kind}")


def _patch(response: Object, version: str) -> list[Object]:
    patch, kind = response.get("patch") or "", response.get("patchType")
    if patch and kind is None and version == "v1":
        raise _broken("webhook returned response.patch but not response.patchType")
    if not patch and kind is not None and version == "v1":
        raise _broken("webhook returned response.patchType but not response.patch")
    if kind not in {None, "JSONPatch"}:
        raise _broken(f"webhook returned invalid response.patchType of {quote(str(kind))}")
    if not patch:
        return []
    try:
        operations: Any = orjson.loads(b64decode(patch))
    except ValueError as error:
        raise InvalidAnswer(f"received undecodable patch in webhook response: {error}") from error
    if not isinstance(operations, list):
        raise InvalidAnswer("received undecodable patch in webhook response: it is no list")
    return operations


def rejection(name: str, status: Object) -> ApiError:
    """Return the error for a webhook's refusal."""
    denied = f"admission webhook {quote(name)} denied the request"
    message, reason = status.get("message"), status.get("reason")
    text = f"{denied}: {message or reason}" if message or reason else f"{denied} without explanation"
    # Not of the class of its reason: what a webhook says is shown as it is, without the object's name before it.
    error = ApiError(text, details=status.get("details") or {})
    error.status_reason, error.status_code = str(reason or ""), max(int(status.get("code") or 0), 400)
    return error
