"""Whether a user may do something on a server that is not the API server: the API server is asked.

Source: kubernetes apiserver ``pkg/authorization/authorizerfactory/delegating.go``,
``plugin/pkg/authorizer/webhook/webhook.go``.
"""

from __future__ import annotations

from typing import Any

import orjson
from hyperkube_lib.serving.expiring_cache import ExpiringCache

from hyperkube.client.client import Client
from hyperkube.kinds.resources import SUBJECT_ACCESS_REVIEWS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, HyperkubeError
from hyperkube.machinery.users import UserInfo

ANSWER_SECONDS = 10.0


class AccessUnknown(HyperkubeError):
    """The API server could not be asked whether a request is allowed: ask it again later."""


class DelegatedAuthorization:
    """Asks by SubjectAccessReview whether a user may do something, and remembers the answer; thread-safe."""

    def __init__(
        self,
        clock: Clock,
        client: Client | None,
        *,
        allowed_seconds: float = ANSWER_SECONDS,
        denied_seconds: float = ANSWER_SECONDS,
    ) -> None:
        """Take whom to ask; without a client nothing is allowed."""
        self._client = client
        self._decisions: ExpiringCache[bytes, bool] = ExpiringCache(
            clock, lambda allowed: allowed_seconds if allowed else denied_seconds
        )

    def allows(
        self,
        user: UserInfo,
        *,
        resource: dict[str, str] | None = None,
        path: dict[str, str] | None = None,
    ) -> bool:
        """Tell whether the user may do something with a resource, or a path.

        Args:
            user: who.
            resource: the review's ``resourceAttributes``.
            path: the review's ``nonResourceAttributes``.

        Raises:
            AccessUnknown: the API server could not be asked.
        """
        client = self._client
        if client is None:
            return False
        spec: dict[str, Any] = {"user": user.name, "uid": user.uid, "groups": list(user.groups)}
        if user.extra:
            spec["extra"] = {key: list(values) for key, values in user.extra.items()}
        if resource is not None:
            spec["resourceAttributes"] = resource
        if path is not None:
            spec["nonResourceAttributes"] = path
        key = orjson.dumps(spec, option=orjson.OPT_SORT_KEYS)
        return self._decisions.get(key, lambda: _ask(client, spec))


def _ask(client: Client, spec: dict[str, Any]) -> bool:
    review = {"kind": "SubjectAccessReview", "apiVersion": SUBJECT_ACCESS_REVIEWS.api_version, "spec": spec}
    try:
        status = client.create(SUBJECT_ACCESS_REVIEWS, review).get("status") or {}
    except (ApiError, OSError) as error:
        raise AccessUnknown(str(error)) from error
    return bool(status.get("allowed")) and not status.get("denied")
