"""The rbac group: who may do what."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.rbac.role_bindings import cluster_role_bindings, role_bindings
from hyperkube_api.rbac.roles import cluster_roles, roles

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin


class RbacApi(Plugin):
    """The rbac group: who may do what."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve rbac.authorization.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="rbac.authorization.k8s.io",
                version="v1",
                resources=(cluster_role_bindings(), cluster_roles(), role_bindings(), roles()),
                group_priority=17_000,
                version_priority=15,
            ),
        ]
