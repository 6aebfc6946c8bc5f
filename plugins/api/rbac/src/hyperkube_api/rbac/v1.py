"""The types of rbac.authorization.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="rbac.authorization.k8s.io",
    version="v1",
    proto="k8s.io.api.rbac.v1",
    openapi="io.k8s.api.rbac.v1",
)


class AggregationRule(KubeSchema):
    """Aggregation rule: part of ClusterRole.aggregationRule."""

    clusterRoleSelectors = f.List("hyperkube_api.meta.v1:LabelSelector", 1, omitempty=True, list_type="atomic")


class ClusterRole(KubeObject):
    """A set of rights in the whole cluster, or for use in any namespace."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    rules = f.List("PolicyRule", 2, nullable=True, list_type="atomic", dv=('k8s:alpha(since: "1.36")=+k8s:optional',))
    aggregationRule = f.Struct("AggregationRule", 3, ptr=True, omitempty=True)


class ClusterRoleBinding(KubeObject):
    """Grants the rights of a ClusterRole everywhere to users, groups and service accounts."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    subjects = f.List("Subject", 2, omitempty=True, list_type="atomic", dv=('k8s:alpha(since: "1.36")=+k8s:optional',))
    roleRef = f.Struct("RoleRef", 3, required=True)


class ClusterRoleBindingList(KubeObject):
    """A list of ClusterRoleBinding objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ClusterRoleBinding", 2, required=True, nullable=True, doc="The objects.")


class ClusterRoleList(KubeObject):
    """A list of ClusterRole objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ClusterRole", 2, required=True, nullable=True, doc="The objects.")


class PolicyRule(KubeSchema):
    """What may be done with which resources."""

    verbs = f.List(
        f.String(),
        1,
        required=True,
        nullable=True,
        list_type="atomic",
        dv=('k8s:alpha(since: "1.36")=+k8s:required',),
        doc="What may be done.",
    )
    apiGroups = f.List(f.String(), 2, omitempty=True, list_type="atomic", doc="In which groups.")
    resources = f.List(f.String(), 3, omitempty=True, list_type="atomic", doc="With which resources.")
    resourceNames = f.List(f.String(), 4, omitempty=True, list_type="atomic", doc="With which objects; all if empty.")
    nonResourceURLs = f.List(
        f.String(), 5, omitempty=True, list_type="atomic", doc="With which paths that are no resources."
    )


class Role(KubeObject):
    """A set of rights in one namespace."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    rules = f.List("PolicyRule", 2, nullable=True, list_type="atomic", dv=('k8s:alpha(since: "1.36")=+k8s:optional',))


class RoleBinding(KubeObject):
    """Grants the rights of a role in one namespace to users, groups and service accounts."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    subjects = f.List("Subject", 2, omitempty=True, list_type="atomic", dv=('k8s:alpha(since: "1.36")=+k8s:optional',))
    roleRef = f.Struct("RoleRef", 3, required=True)


class RoleBindingList(KubeObject):
    """A list of RoleBinding objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("RoleBinding", 2, required=True, nullable=True, doc="The objects.")


class RoleList(KubeObject):
    """A list of Role objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Role", 2, required=True, nullable=True, doc="The objects.")


class RoleRef(KubeSchema, struct_type="atomic"):
    """The role that is granted."""

    apiGroup = f.String(1)
    kind = f.String(2, required=True)
    name = f.String(3, required=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))


class Subject(KubeSchema, struct_type="atomic"):
    """A user, a group or a service account."""

    kind = f.String(1, required=True)
    apiGroup = f.String(2, omitempty=True)
    name = f.String(3, required=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))
    namespace = f.String(4, omitempty=True)
