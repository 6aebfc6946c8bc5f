"""Token reviews and reviews of the caller's own identity.

Source: kubernetes pkg/registry/authentication. The token authenticator is the host's, passed in the options.
"""

from __future__ import annotations

from hyperkube.hookspecs.api import Call
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.errors import BadRequest, Unauthorized
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.times import format_time
from hyperkube.machinery.users import UserInfo

AUTHENTICATE_OPTION = "token-authenticator"
"""The option that holds ``Callable[[Credentials], Authenticated | None]``: the host's chain of authenticators."""


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
    authenticate = call.options.get(AUTHENTICATE_OPTION)
    if authenticate is None:
        return {"user": {}, "error": "no token authenticator is configured"}
    audiences = tuple(spec.get("audiences") or ())
    try:
        found: Authenticated | None = authenticate(Credentials(token=spec["token"], audiences=audiences))
    except Unauthorized as error:
        return {"user": {}, "error": error.message}
    if found is None:
        return {"user": {}}
    status: Object = {"authenticated": True, "user": user_shape(found.user)}
    if found.audiences:
        status["audiences"] = list(found.audiences)
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
