"""The refusals that only patches give."""

from __future__ import annotations

from hyperkube.machinery.errors import ApiError, BadRequest, Invalid
from hyperkube.machinery.objects import Object


class PatchRejected(Invalid):
    """The patch is well-formed but cannot be applied to this object.

    Clients of Kubernetes only get a general sentence; `why` holds the reason, for the log.
    """

    def __init__(self, why: str) -> None:
        super().__init__("the server rejected our request due to an error in our request")
        self.why = why

    def status(self) -> Object:
        """Return the ``Status``, which has details although they are empty."""
        status = super().status()
        code = status.pop("code")
        return {**status, "details": self.details, "code": code}


class PatchFailed(ApiError):
    """The patch contradicts itself or the type; Kubernetes answers 500 without a reason, the text says why."""


def shown(value: object) -> str:
    """Return a JSON value as Go prints it with ``%v``, which some messages of patches contain."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{shown(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(shown(item) for item in value) + "]"
    return str(value)


def shown_text(value: object) -> str:
    """Return a JSON value as Go prints it with ``%s``, which is meant for strings."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{shown_text(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(shown_text, value)) + "]"
    if value is None:
        return "%!s(<nil>)"
    return value if isinstance(value, str) else f"%!s({go_type(value)}={shown(value)})"


def go_type(value: object) -> str:
    """Return the Go type that a JSON value is decoded into, as messages name it."""
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64"
    if isinstance(value, float):
        return "float64"
    return "string" if isinstance(value, str) else "<nil>"


def json_type(value: object) -> str:
    """Return the JSON type of a value as Go's decoder names it."""
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "array"
    if isinstance(value, bool):
        return "bool"
    return "number" if isinstance(value, int | float) else "string"


def undecodable(value: object, target: str, member: str = "") -> BadRequest:
    """Return the refusal of a patch of the wrong JSON type; `target` is the Go type it or its `member` should fit."""
    into = f"struct field {member} of" if member else "value of"
    return BadRequest(f"error decoding patch: json: cannot unmarshal {json_type(value)} into Go {into} type {target}")
