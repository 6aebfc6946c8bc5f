"""Token reviews and reviews of the caller's own identity.

Source: kubernetes pkg/registry/authentication. The authenticators are the server's.
"""

from __future__ import annotations

from hyperkube.hookspecs.api import Call
from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.errors import BadRequest, Unauthorized
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.times import format_time
from hyperkube.machinery.users import UserInfo

_INVALID_TOKEN = "invalid bearer token"  # noqa: S105 -- a message


def review_token(call: Call) -> Object:
    """Answer a TokenReview.

    Raises:
        BadRequest: the review holds no token or a namespace.
    """
    review = call.body or {}
    spec = review.get("spec") or {}
    if not spec.get("token"):
        raise BadRequest("token is required for TokenReview in authentication")
    return {**review, "metadata": metadata(review), "status": _token_status(call, spec)}


def _token_status(call: Call, spec: Object) -> Object:
    authenticate = call.services.authenticate
    if authenticate is None:
        return {"user": {}, "error": "no token authenticator is configured"}
    own = call.services.audiences
    asked = tuple(spec.get("audiences") or own)
    try:
        found = authenticate(Credentials(token=spec["token"], audiences=asked))
    except Unauthorized as error:
        return {"user": {}, "error": f"[{_INVALID_TOKEN}, {error.message}]"}
    if found is None:
        return {"user": {}, "error": _INVALID_TOKEN}
    audiences = list(found.audiences) or [audience for audience in asked if audience in own]
    if asked and not audiences:
        return {"user": {}, "error": _INVALID_TOKEN}
    status: Object = {"authenticated": True, "user": user_shape(found.user)}
    if audiences:
        status["audiences"] = audiences
    return status


def review_self(call: Call) -> Object:
    """Answer a SelfSubjectReview: the caller's own identity."""
    return {
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"creationTimestamp": format_time(call.clock.now())},
        "status": {"userInfo": user_shape(call.user)},
    }


def user_shape(user: UserInfo) -> Object:
    """Return a user as the API shows one."""
    shape: Object = {"username": user.name}
    if user.uid:
        shape["uid"] = user.uid
    if user.groups:
        shape["groups"] = list(user.groups)
    if user.extra:
        shape["extra"] = {key: list(values) for key, values in user.extra.items()}
    return shape
