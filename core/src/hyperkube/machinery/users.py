"""Who is asking: the identity that authentication yields and that every in-process call carries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from urllib.parse import unquote

from hyperkube.machinery.dataclass import dataclass

ANONYMOUS = "system:anonymous"
AUTHENTICATED_GROUP = "system:authenticated"
UNAUTHENTICATED_GROUP = "system:unauthenticated"
PRIVILEGED_GROUP = "system:masters"
APISERVER_USER = "system:apiserver"
SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:"
SERVICE_ACCOUNTS_GROUP = "system:serviceaccounts"
NODE_PREFIX = "system:node:"
NODES_GROUP = "system:nodes"

_NO_EXTRA: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class UserInfo:
    """A user: name, uid, groups in order, and extra values by (lower-case) key."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NO_EXTRA, hash=False)


def service_account(namespace: str, name: str, uid: str = "") -> UserInfo:
    """Return the identity of a service account, with the groups Kubernetes gives it."""
    return UserInfo(
        f"{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}",
        uid,
        (SERVICE_ACCOUNTS_GROUP, f"{SERVICE_ACCOUNTS_GROUP}:{namespace}", AUTHENTICATED_GROUP),
    )


def unescape_extra_key(key: str) -> str:
    """Return the key of an extra value that a header's name carries; one that is escaped wrongly stays as it is."""
    return key if re.search("%(?![0-9A-Fa-f]{2})", key) else unquote(key, errors="backslashreplace")


def node(name: str) -> UserInfo:
    """Return the identity of a node's kubelet."""
    return UserInfo(f"{NODE_PREFIX}{name}", "", (NODES_GROUP, AUTHENTICATED_GROUP))


def node_of(user: UserInfo) -> str | None:
    """Return the name of the node whose kubelet the user is; None for anybody else, empty for a nameless one."""
    is_node = NODES_GROUP in user.groups and user.name.startswith(NODE_PREFIX)
    return user.name[len(NODE_PREFIX) :] if is_node else None


def component(name: str) -> UserInfo:
    """Return the identity of a control-plane component, e.g. ``system:kube-scheduler``."""
    return UserInfo(name, "", (AUTHENTICATED_GROUP,))


LOOPBACK = UserInfo(APISERVER_USER, "", (PRIVILEGED_GROUP, AUTHENTICATED_GROUP))
"""The API server speaking to itself; always allowed."""
