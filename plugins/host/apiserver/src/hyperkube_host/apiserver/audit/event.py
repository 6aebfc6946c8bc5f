"""The record of one request while it is on its way, and the events that are made of it.

Source: kubernetes apiserver ``pkg/audit/request.go``, ``pkg/endpoints/filters/audit.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

import orjson
from hyperkube_host.apiserver.audit.policy import Level, RequestAuditConfig, Stage

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.times import format_micro_time
from hyperkube.machinery.users import UserInfo

_JSON = "application/json"


@dataclass(slots=True, kw_only=True)
class AuditEvent:
    """What is known of a request so far.

    Attributes:
        method: of HTTP, empty inside the process.
        uri: path and query as asked.
        user: who asked; `acting_as` whom they act as, None for themselves.
        constraint: the verb that allowed that, empty for the plain right to impersonate.
        reference: which object, None for a path that is no resource.
        annotations: the request's own, shared with admission.
        status: of the answer, None while there is none.
        request_object: the body, from level Request on.
        response_object: the answer, at level RequestResponse.
    """

    audit_id: str
    config: RequestAuditConfig
    verb: str
    uri: str
    user: UserInfo
    acting_as: UserInfo | None = None
    constraint: str = ""
    addresses: list[str] = field(default_factory=list)
    agent: str = ""
    reference: Object | None = None
    annotations: dict[str, str]
    received_at: datetime
    status: Object | None = None
    request_object: Any = None
    response_object: Any = None

    @property
    def records_response(self) -> bool:
        """Whether the body of the answer is recorded, too."""
        return self.config.level >= Level.RequestResponse

    def log_request_object(self, obj: Object) -> None:
        """Note the decoded body: what it is called, and from level Request on what it says."""
        reference, meta = self.reference, obj.get("metadata") or {}
        if reference is not None:
            for key in ("name", "namespace", "uid", "resourceVersion"):
                if not reference.get(key) and meta.get(key):
                    reference[key] = meta[key]
        if self.config.level >= Level.Request:
            self.request_object = self._shown(copy_object(obj))

    def log_request_bytes(self, body: bytes, content_type: str) -> None:
        """Note a body that was not decoded, such as a patch, if it is JSON."""
        if self.config.level >= Level.Request and self.request_object is None and body and "json" in content_type:
            self.request_object = _parsed(body)

    def log_response(self, code: int, body: bytes, content_type: str) -> None:
        """Note the answer."""
        self.status = {"metadata": {}, "code": code}
        failed = code >= 400
        if not failed and self.config.level < Level.RequestResponse:
            return
        found = _parsed(body) if _JSON in content_type else None
        if failed and isinstance(found, dict) and found.get("kind") == "Status":
            kept = ("metadata", "status", "message", "reason", "details", "code")
            self.status = {key: found[key] for key in kept if key in found}
        if self.config.level >= Level.RequestResponse and found is not None:
            self.response_object = self._shown(found)

    def log_response_object(self, obj: Object, code: int) -> None:
        """Note an answer that never became bytes."""
        self.status = {"metadata": {}, "code": code}
        if self.config.level >= Level.RequestResponse:
            self.response_object = self._shown(copy_object(obj))

    def _shown(self, obj: Any) -> Any:
        if self.config.omits_managed_fields and isinstance(obj, dict):
            for part in (obj, *(obj.get("items") or ())):
                (part.get("metadata") or {}).pop("managedFields", None)
        return obj

    def at_stage(self, stage: Stage, now: datetime) -> Object:
        """Return the event of a stage."""
        made: Object = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": self.config.level.word,
            "auditID": self.audit_id,
            "stage": stage.value,
            "requestURI": self.uri,
            "verb": self.verb,
            "user": shown_user(self.user),
        }
        if self.acting_as is not None:
            made["impersonatedUser"] = shown_user(self.acting_as)
        if self.constraint:
            made["authenticationMetadata"] = {"impersonationConstraint": self.constraint}
        optional: Mapping[str, Any] = {
            "sourceIPs": self.addresses,
            "userAgent": self.agent,
            "objectRef": self.reference,
            "responseStatus": self.status,
            "requestObject": self.request_object,
            "responseObject": self.response_object,
        }
        made |= {key: value for key, value in optional.items() if value}
        made["requestReceivedTimestamp"] = format_micro_time(self.received_at)
        made["stageTimestamp"] = format_micro_time(now)
        if self.annotations:
            made["annotations"] = dict(self.annotations)
        return made


def shown_user(user: UserInfo) -> Object:
    """Return a user as events show it."""
    shown: Object = {"username": user.name}
    if user.uid:
        shown["uid"] = user.uid
    if user.groups:
        shown["groups"] = list(user.groups)
    if user.extra:
        shown["extra"] = {key: list(values) for key, values in user.extra.items()}
    return shown


def _parsed(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
