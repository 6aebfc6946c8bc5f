"""The types of rbac.authorization.k8s.io/v1alpha1: a subject says its version instead of its group."""

# ruff: noqa: N815 -- members bear Kubernetes' own names

from hyperkube_api.meta.schema_aliases import alias, list_alias
from hyperkube_api.rbac import v1 as newer

from hyperkube.machinery.schema import KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="rbac.authorization.k8s.io",
    version="v1alpha1",
    proto="k8s.io.api.rbac.v1alpha1",
    openapi="io.k8s.api.rbac.v1alpha1",
)


class Subject(KubeSchema):
    """Who gets a role: part of ClusterRoleBinding.subjects, RoleBinding.subjects."""

    kind = f.String(1, required=True)
    apiVersion = f.String(2, omitempty=True)
    name = f.String(3, required=True)
    namespace = f.String(4, omitempty=True)


_SUBJECTS = {"subjects": f.List("Subject", 2, omitempty=True, list_type="atomic")}

ClusterRole = alias(newer.ClusterRole, __name__)
ClusterRoleList = list_alias(newer.ClusterRoleList, __name__)
ClusterRoleBinding = alias(newer.ClusterRoleBinding, __name__, **_SUBJECTS)
ClusterRoleBindingList = list_alias(newer.ClusterRoleBindingList, __name__)
Role = alias(newer.Role, __name__)
RoleList = list_alias(newer.RoleList, __name__)
RoleBinding = alias(newer.RoleBinding, __name__, **_SUBJECTS)
RoleBindingList = list_alias(newer.RoleBindingList, __name__)
