"""Which node is asking: the kubelet of node ``n`` is ``system:node:n`` in the group ``system:nodes``."""

from __future__ import annotations

from hyperkube.machinery.users import NODE_PREFIX, NODES_GROUP, UserInfo


def node_of(user: UserInfo) -> str | None:
    """Return the name of the node whose kubelet the user is; None for anybody else, empty for a nameless one."""
    if NODES_GROUP not in user.groups or not user.name.startswith(NODE_PREFIX):
        return None
    return user.name[len(NODE_PREFIX) :]
