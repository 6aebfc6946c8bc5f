"""The errors for paths that no resource has and for methods that a path does not take."""

from __future__ import annotations

from hyperkube_host.apiserver.serializer.negotiation import with_details

from hyperkube.machinery.errors import ApiError, MethodNotAllowed, NotFound


class PathNotFound(Exception):
    """Nothing at all is served below that path: the answer is a plain text, no Status."""


def not_found() -> ApiError:
    """Return the error for a path that no resource has."""
    return with_details(NotFound("the server could not find the requested resource"))


def not_allowed() -> ApiError:
    """Return the error for a method that a path does not take."""
    return with_details(MethodNotAllowed("the server does not allow this method on the requested resource"))
