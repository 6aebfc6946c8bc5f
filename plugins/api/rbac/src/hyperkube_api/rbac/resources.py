"""The rbac group: who may do what."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.specs import Version, columns
from hyperkube_api.rbac import tables
from hyperkube_api.rbac.strategies import (
    ClusterRoleBindingStrategy,
    ClusterRoleStrategy,
    RoleBindingStrategy,
    RoleStrategy,
)

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("rbac.authorization.k8s.io", "v1", "hyperkube_api.rbac.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "clusterrolebindings",
            "ClusterRoleBinding",
            namespaced=False,
            storage_prefix="clusterrolebindings",
            storage_version_hash="48tpQ8gZHFc=",
            strategy=ClusterRoleBindingStrategy(),
            columns=columns(
                "Role=roleRef",
                "Age",
                "+Users -- Users in the clusterRoleBinding",
                "+Groups -- Groups in the clusterRoleBinding",
                "+ServiceAccounts -- ServiceAccounts in the clusterRoleBinding",
            ),
            cells=tables.cluster_role_binding,
        ),
        V1.resource(
            "clusterroles",
            "ClusterRole",
            namespaced=False,
            storage_prefix="clusterroles",
            storage_version_hash="bYE5ZWDrJ44=",
            strategy=ClusterRoleStrategy(),
            columns=columns("Created At:date"),
            cells=tables.cluster_role,
        ),
        V1.resource(
            "rolebindings",
            "RoleBinding",
            storage_prefix="rolebindings",
            storage_version_hash="eGsCzGH6b1g=",
            strategy=RoleBindingStrategy(),
            columns=columns(
                "Role=roleRef",
                "Age",
                "+Users -- Users in the roleBinding",
                "+Groups -- Groups in the roleBinding",
                "+ServiceAccounts -- ServiceAccounts in the roleBinding",
            ),
            cells=tables.role_binding,
        ),
        V1.resource(
            "roles",
            "Role",
            storage_prefix="roles",
            storage_version_hash="7FuwZcIIItM=",
            strategy=RoleStrategy(),
            columns=columns("Created At:date"),
            cells=tables.role,
        ),
    )


class RbacApi(Plugin):
    """The rbac group: who may do what."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve rbac.authorization.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="rbac.authorization.k8s.io",
                version="v1",
                resources=_v1(),
                group_priority=17_000,
                version_priority=15,
            ),
        ]
