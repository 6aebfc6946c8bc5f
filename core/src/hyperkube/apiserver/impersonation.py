"""Acting as somebody else: the ``Impersonate-*`` headers, allowed one by one.

Source: kubernetes apiserver ``pkg/endpoints/filters/impersonation.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from hyperkube.apiserver.authorization import Authorization, refusal
from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.errors import InternalError
from hyperkube.machinery.users import (
    ANONYMOUS,
    AUTHENTICATED_GROUP,
    SERVICE_ACCOUNT_PREFIX,
    SERVICE_ACCOUNTS_GROUP,
    UNAUTHENTICATED_GROUP,
    UserInfo,
)

_EXTRA_PREFIX = "impersonate-extra-"
_AUTHENTICATION_GROUP = "authentication.k8s.io"


def impersonated(headers: Mapping[str, str], user: UserInfo, authorization: Authorization) -> UserInfo:
    """Return the user that a request acts as: its own unless it names another one.

    Raises:
        Forbidden: `user` may not act as that user, group, uid or with that extra value.
        InternalError: groups or extra values without a user.
    """
    name = headers.get("impersonate-user", "")
    groups = _values(headers.get("impersonate-group", ""))
    uid = headers.get("impersonate-uid", "")
    extra = {
        unquote(header[len(_EXTRA_PREFIX) :]): tuple(_values(value))
        for header, value in headers.items()
        if header.startswith(_EXTRA_PREFIX)
    }
    if not (name or groups or uid or extra):
        return user
    if not name:
        raise InternalError(f"requested {groups or extra or uid!r} without impersonating a user")
    for attributes in _questions(user, name, groups, uid, extra):
        decision = authorization.authorize(attributes)
        if not decision.allowed:
            raise refusal(attributes, decision.reason)
    return UserInfo(name, uid, tuple(_groups(name, groups)), extra)


def _values(text: str) -> list[str]:
    return [value for value in text.split(", ") if value]


def _questions(
    user: UserInfo, name: str, groups: list[str], uid: str, extra: Mapping[str, tuple[str, ...]]
) -> Iterable[Attributes]:
    if name.startswith(SERVICE_ACCOUNT_PREFIX):
        namespace, _, account = name.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(":")
        yield Attributes(user, "impersonate", "", "v1", "serviceaccounts", "", namespace, account)
    else:
        yield Attributes(user, "impersonate", "", "v1", "users", "", "", name)
    for group in groups:
        yield Attributes(user, "impersonate", "", "v1", "groups", "", "", group)
    if uid:
        yield Attributes(user, "impersonate", _AUTHENTICATION_GROUP, "v1", "uids", "", "", uid)
    for key, values in extra.items():
        for value in values:
            yield Attributes(user, "impersonate", _AUTHENTICATION_GROUP, "v1", "userextras", key, "", value)


def _groups(name: str, groups: list[str]) -> list[str]:
    """Return the groups of the user acted as, with those that the server adds."""
    if name == ANONYMOUS:
        return groups if UNAUTHENTICATED_GROUP in groups else [*groups, UNAUTHENTICATED_GROUP]
    if not groups and name.startswith(SERVICE_ACCOUNT_PREFIX):
        namespace = name.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(":")[0]
        groups = [SERVICE_ACCOUNTS_GROUP, f"{SERVICE_ACCOUNTS_GROUP}:{namespace}"]
    return (
        groups if AUTHENTICATED_GROUP in groups or UNAUTHENTICATED_GROUP in groups else [*groups, AUTHENTICATED_GROUP]
    )
