"""How the API's answers look on the wire: lists, refusals, and a server that is away."""

from __future__ import annotations

import contextlib
import http.client
from collections.abc import Iterator, Mapping

import orjson

from hyperkube.client.client import ObjectList
from hyperkube.machinery.errors import ApiError, from_status
from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object


@contextlib.contextmanager
def as_connection_error(address: str) -> Iterator[None]:
    """Let every way in which the server at an address can be away look like one: `ConnectionError`, which names it."""
    try:
        yield
    except (ConnectionResetError, BrokenPipeError):
        raise  # a request may be sent again after these
    except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
        # ValueError and AttributeError are what http.client gives for a socket that another thread closed.
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ConnectionError(f"{address}: {reason}") from error


def read_list(answer: Object) -> ObjectList:
    """Turn a list as the wire has it into a page whose items know their kind and version."""
    kind = str(answer.get("kind", "")).removesuffix("List")
    api_version = answer.get("apiVersion", "")
    items: list[Object] = answer.get("items") or []
    for index, item in enumerate(items):
        if "kind" not in item:
            items[index] = {"kind": kind, "apiVersion": api_version, **item}
    meta = answer.get("metadata") or {}
    return ObjectList(items, meta.get("resourceVersion", ""), meta.get("continue", ""), meta.get("remainingItemCount"))


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
    """Return the error that a refusal stands for, also when its body is no Status (a proxy's page)."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = None
    if isinstance(answer, dict) and answer.get("kind") == "Status":
        return from_status({"code": status, **answer})
    text = body.decode("utf-8", "replace").strip() or http.client.responses.get(status, "unknown")
    reasons = {400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed",
               406: "NotAcceptable", 409: "Conflict", 410: "Expired", 415: "UnsupportedMediaType",
               429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout"}  # fmt: skip
    retry = parse_int(headers.get("Retry-After", ""), 32)
    details = {} if retry is None else {"retryAfterSeconds": retry}
    return from_status({"code": status, "reason": reasons.get(status, ""), "message": text, "details": details})
