"""The types of rbac.authorization.k8s.io/v1beta1: as they are today, under their old name."""

from hyperkube_api.meta.schema_aliases import alias, list_alias
from hyperkube_api.rbac import v1 as newer

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="rbac.authorization.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.rbac.v1beta1",
    openapi="io.k8s.api.rbac.v1beta1",
)

ClusterRole = alias(newer.ClusterRole, __name__)
ClusterRoleList = list_alias(newer.ClusterRoleList, __name__)
ClusterRoleBinding = alias(newer.ClusterRoleBinding, __name__)
ClusterRoleBindingList = list_alias(newer.ClusterRoleBindingList, __name__)
Role = alias(newer.Role, __name__)
RoleList = list_alias(newer.RoleList, __name__)
RoleBinding = alias(newer.RoleBinding, __name__)
RoleBindingList = list_alias(newer.RoleBindingList, __name__)
