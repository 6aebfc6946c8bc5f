"""Every refusal and failure that reaches a client, as one tree; each becomes the exact ``Status`` Kubernetes sends.

::

    HyperkubeError                    anything hyperkube itself raises
    ├── UsageError                    the user's command line or file is wrong: print one line, exit 1
    └── ApiError                      has a Status; .reason and .code are class facts
        ├── BadRequest 400            the request cannot be understood: change it
        ├── Unauthorized 401          no valid credentials: log in again
        ├── Forbidden 403             not allowed (authorization or admission): ask for rights or change the object
        ├── NotFound 404              no such object or resource
        ├── MethodNotAllowed 405      the resource has no such verb
        ├── NotAcceptable 406         none of the accepted media types can be served
        ├── AlreadyExists 409         the name is taken
        ├── Conflict 409              it changed meanwhile: read again and retry
        ├── Gone 410                  will not come back
        ├── Expired 410               the resourceVersion or continue token is too old: list again
        ├── RequestEntityTooLarge 413 send less
        ├── UnsupportedMediaType 415  send another content type
        ├── Invalid 422               the object breaks validation: .details.causes name the fields
        ├── TooManyRequests 429       wait .retry_after_seconds and retry
        ├── InternalError 500         a bug or a broken backend
        ├── ServerTimeout 500         could not be completed now: retry
        ├── StorageReadError 500      an object in the store cannot be decoded
        ├── ServiceUnavailable 503    retry later
        └── Timeout 504               no answer in time; whether it was done is unknown

Source of shapes and texts: kubernetes apimachinery ``pkg/api/errors/errors.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.field import quote
from hyperkube.machinery.groups import GroupKind, GroupResource

if TYPE_CHECKING:
    from hyperkube.machinery.field import FieldError
    from hyperkube.machinery.objects import Object


MOST_FIELD_ERRORS, MOST_ERROR_TEXT = 1000, 1 << 20
"""Errors told of one object, and their characters: each may show a list as long as the object, once for each item."""


class HyperkubeError(Exception):
    """Anything hyperkube itself raises."""


class UsageError(HyperkubeError):
    """The user's command line, file or environment is wrong; the message is one line that says what would be right."""


class ApiError(HyperkubeError):
    """An error with a Kubernetes ``Status``; raise a subclass, or `from_status` for one that came over the wire."""

    reason: ClassVar[str] = ""
    code: ClassVar[int] = 500

    def __init__(self, message: str, *, details: Object | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details: Object = details or {}
        self.status_reason = type(self).reason
        self.status_code = type(self).code

    @property
    def retry_after_seconds(self) -> int:
        """Seconds after which a retry makes sense; 0 when nothing is known."""
        return int(self.details.get("retryAfterSeconds", 0))

    @property
    def causes(self) -> list[Object]:
        """The ``{reason, message, field}`` rows of the details."""
        causes: list[Object] = self.details.get("causes", [])
        return causes

    def status(self) -> Object:
        """Return the ``Status`` object that the client gets."""
        status: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.status_reason:
            status["reason"] = self.status_reason
        if self.details:
            status["details"] = self.details
        status["code"] = self.status_code
        return status


def _about(resource: GroupResource | None, name: str) -> Object:
    """Return the details that name a resource, with Kubernetes' order of fields and without empty ones."""
    details: Object = {}
    if name:
        details["name"] = name
    if resource is not None and resource.group:
        details["group"] = resource.group
    if resource is not None and resource.resource:
        details["kind"] = resource.resource
    return details


class EmptyDetails(dict[str, object]):
    """Details without content that are shown nevertheless."""

    def __bool__(self) -> bool:
        return True


class BadRequest(ApiError):
    """The request cannot be understood: change it."""

    reason, code = "BadRequest", 400


class Unauthorized(ApiError):
    """No valid credentials were given."""

    reason, code = "Unauthorized", 401

    def __init__(self, message: str = "Unauthorized", *, details: Object | None = None) -> None:
        super().__init__(message, details=details)


class Forbidden(ApiError):
    """Not allowed, by authorization or by admission.

    Raised inside an admission plugin with a bare message, the host fills in the resource and name with `about`.
    """

    reason, code = "Forbidden", 403

    @classmethod
    def about(cls, resource: GroupResource, name: str, why: str) -> Forbidden:
        """Return the error with the text ``RESOURCE "NAME" is forbidden: WHY`` and details."""
        if not resource.resource:
            message = f"forbidden: {why}"
        elif name:
            message = f"{resource} {quote(name)} is forbidden: {why}"
        else:
            message = f"{resource} is forbidden: {why}"
        return cls(message, details=_about(resource, name))


class NotFound(ApiError):
    """No such object or resource."""

    reason, code = "NotFound", 404

    @classmethod
    def about(cls, resource: GroupResource, name: str) -> NotFound:
        """Return the error with the text ``RESOURCE "NAME" not found`` and details."""
        return cls(f"{resource} {quote(name)} not found", details=_about(resource, name))


class MethodNotAllowed(ApiError):
    """The resource has no such verb."""

    reason, code = "MethodNotAllowed", 405

    @classmethod
    def about(cls, resource: GroupResource, verb: str) -> MethodNotAllowed:
        """Return the error for a verb that the resource does not support."""
        return cls(f'{verb} is not supported on resources of kind "{resource}"', details=_about(resource, ""))


class NotAcceptable(ApiError):
    """None of the media types the client accepts can be served."""

    reason, code = "NotAcceptable", 406


class AlreadyExists(ApiError):
    """The name is taken."""

    reason, code = "AlreadyExists", 409

    @classmethod
    def about(cls, resource: GroupResource, name: str) -> AlreadyExists:
        """Return the error with the text ``RESOURCE "NAME" already exists`` and details."""
        return cls(f"{resource} {quote(name)} already exists", details=_about(resource, name))


OBJECT_MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class Conflict(ApiError):
    """The object changed meanwhile, or a precondition does not hold: read again and retry."""

    reason, code = "Conflict", 409

    @classmethod
    def about(cls, resource: GroupResource, name: str, why: str = OBJECT_MODIFIED) -> Conflict:
        """Return the error with the text ``Operation cannot be fulfilled on RESOURCE "NAME": WHY``."""
        return cls(f"Operation cannot be fulfilled on {resource} {quote(name)}: {why}", details=_about(resource, name))


class Gone(ApiError):
    """What was asked for will not come back."""

    reason, code = "Gone", 410


class Expired(ApiError):
    """The resourceVersion or continue token is too old: list again."""

    reason, code = "Expired", 410


class RequestEntityTooLarge(ApiError):
    """The body is over the limit."""

    reason, code = "RequestEntityTooLarge", 413


class UnsupportedMediaType(ApiError):
    """The body's content type cannot be read here."""

    reason, code = "UnsupportedMediaType", 415


class Invalid(ApiError):
    """The object breaks validation; the causes name each field."""

    reason, code = "Invalid", 422

    @classmethod
    def about(cls, kind: GroupKind, name: str, errors: Sequence[FieldError]) -> Invalid:
        """Return the error with the text ``KIND "NAME" is invalid: ERRORS`` and one cause per field error."""
        told = _told(errors)
        more = f" and {len(errors) - len(told)} more" if len(errors) > len(told) else ""
        message = f"{kind} {quote(name)} is invalid" + (f": {aggregate(told)}{more}" if errors else "")
        details: Object = {}
        if name:
            details["name"] = name
        if kind.group:
            details["group"] = kind.group
        if kind.kind:
            details["kind"] = kind.kind
        if errors:
            details["causes"] = [error.cause() for error in told]
        return cls(message, details=details)


def _told(errors: Sequence[FieldError]) -> list[FieldError]:
    """Return the first errors, one at least, which are not too much together."""
    told, size = [], 0
    for error in errors[:MOST_FIELD_ERRORS]:
        told.append(error)
        size += len(str(error))
        if size > MOST_ERROR_TEXT:
            break
    return told


class TooManyRequests(ApiError):
    """Wait `retry_after_seconds` and retry."""

    reason, code = "TooManyRequests", 429

    def __init__(self, message: str, *, retry_after_seconds: int = 1, details: Object | None = None) -> None:
        extra = {"retryAfterSeconds": retry_after_seconds} if retry_after_seconds else {}
        super().__init__(message, details={**(details or {}), **extra})


class InternalError(ApiError):
    """A bug, or a backend that is broken."""

    reason, code = "InternalError", 500

    @classmethod
    def because(cls, why: object) -> InternalError:
        """Return the error with the text ``Internal error occurred: WHY`` and that as its only cause."""
        return cls(f"Internal error occurred: {why}", details={"causes": [{"message": str(why)}]})


class ServerTimeout(ApiError):
    """The operation could not be completed at this time: retry."""

    reason, code = "ServerTimeout", 500


class StorageReadError(ApiError):
    """An object in the store cannot be read or decoded."""

    reason, code = "StorageReadError", 500


class ServiceUnavailable(ApiError):
    """The server, or one behind it, cannot answer now."""

    reason, code = "ServiceUnavailable", 503


class Timeout(ApiError):
    """No answer came in time; whether the work was done is unknown."""

    reason, code = "Timeout", 504


_BY_REASON: dict[str, type[ApiError]] = {
    error.reason: error
    for error in (
        BadRequest, Unauthorized, Forbidden, NotFound, MethodNotAllowed, NotAcceptable, AlreadyExists, Conflict, Gone,
        Expired, RequestEntityTooLarge, UnsupportedMediaType, Invalid, TooManyRequests, InternalError, ServerTimeout,
        StorageReadError, ServiceUnavailable, Timeout,
    )
}  # fmt: skip


def from_status(status: Object) -> ApiError:
    """Return the error that a ``Status`` received over the wire stands for, of the class that fits its reason."""
    reason = str(status.get("reason", ""))
    error_class = _BY_REASON.get(reason, ApiError)
    error = error_class.__new__(error_class)
    details: Any = status.get("details") or {}
    ApiError.__init__(error, str(status.get("message", "")), details=details)
    error.status_reason = reason
    error.status_code = int(status.get("code", error_class.code))
    return error
