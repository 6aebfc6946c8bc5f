"""The types of rbac.authorization.k8s.io/v1beta1: as they are today, under their old name."""

from hyperkube_api.meta.again import again, listed
from hyperkube_api.rbac import v1 as newer

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="rbac.authorization.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.rbac.v1beta1",
    openapi="io.k8s.api.rbac.v1beta1",
)

ClusterRole = again(newer.ClusterRole, __name__)
ClusterRoleList = listed(newer.ClusterRoleList, __name__)
ClusterRoleBinding = again(newer.ClusterRoleBinding, __name__)
ClusterRoleBindingList = listed(newer.ClusterRoleBindingList, __name__)
Role = again(newer.Role, __name__)
RoleList = listed(newer.RoleList, __name__)
RoleBinding = again(newer.RoleBinding, __name__)
RoleBindingList = listed(newer.RoleBindingList, __name__)
