"""The types of audit.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="audit.k8s.io",
    version="v1",
    proto="k8s.io.apiserver.pkg.apis.audit.v1",
    openapi="io.k8s.apiserver.pkg.apis.audit.v1",
)


class AuthenticationMetadata(KubeSchema, published=False):
    """Authentication metadata: part of Event.authenticationMetadata."""

    impersonationConstraint = f.String(1, omitempty=True)


class Event(KubeObject, published=False):
    """Event: part of EventList.items."""

    level = f.String(1, required=True, typedef="v1.Level")
    auditID = f.String(2, required=True)
    stage = f.String(3, required=True, typedef="v1.Stage")
    requestURI = f.String(4, required=True)
    verb = f.String(5, required=True)
    user = f.Struct("hyperkube_api.authentication.v1:UserInfo", 6, required=True)
    impersonatedUser = f.Struct("hyperkube_api.authentication.v1:UserInfo", 7, ptr=True, omitempty=True)
    authenticationMetadata = f.Struct("AuthenticationMetadata", 17, ptr=True, omitempty=True)
    sourceIPs = f.List(f.String(), 8, omitempty=True, list_type="atomic")
    userAgent = f.String(16, omitempty=True)
    objectRef = f.Struct("ObjectReference", 9, ptr=True, omitempty=True)
    responseStatus = f.Struct("hyperkube_api.meta.v1:Status", 10, ptr=True, omitempty=True)
    requestObject = f.RawExtension(11, ptr=True, omitempty=True)
    responseObject = f.RawExtension(12, ptr=True, omitempty=True)
    requestReceivedTimestamp = f.MicroTime(13, nullable=True)
    stageTimestamp = f.MicroTime(14, nullable=True)
    annotations = f.Map(f.String(), 15, omitempty=True)


class EventList(KubeObject, published=False):
    """A list of Event objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Event", 2, required=True, nullable=True, doc="The objects.")


class GroupResources(KubeSchema, published=False):
    """Group resources: part of PolicyRule.resources."""

    group = f.String(1, omitempty=True)
    resources = f.List(f.String(), 2, omitempty=True, list_type="atomic")
    resourceNames = f.List(f.String(), 3, omitempty=True, list_type="atomic")


class ObjectReference(KubeSchema, published=False):
    """Another object, by kind and name."""

    resource = f.String(1, omitempty=True)
    namespace = f.String(2, omitempty=True)
    name = f.String(3, omitempty=True)
    uid = f.String(4, omitempty=True, typedef="types.UID")
    apiGroup = f.String(5, omitempty=True)
    apiVersion = f.String(6, omitempty=True)
    resourceVersion = f.String(7, omitempty=True)
    subresource = f.String(8, omitempty=True)


class Policy(KubeObject, published=False):
    """Policy: part of PolicyList.items."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    rules = f.List("PolicyRule", 2, required=True, nullable=True, list_type="atomic")
    omitStages = f.List(f.String(typedef="v1.Stage"), 3, omitempty=True, list_type="atomic")
    omitManagedFields = f.Bool(4, omitempty=True)


class PolicyList(KubeObject, published=False):
    """A list of Policy objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Policy", 2, required=True, nullable=True, doc="The objects.")


class PolicyRule(KubeSchema, published=False):
    """What may be done with which resources."""

    level = f.String(1, required=True, typedef="v1.Level")
    users = f.List(f.String(), 2, omitempty=True, list_type="atomic")
    userGroups = f.List(f.String(), 3, omitempty=True, list_type="atomic")
    verbs = f.List(f.String(), 4, omitempty=True, list_type="atomic", doc="What may be done.")
    resources = f.List("GroupResources", 5, omitempty=True, list_type="atomic", doc="With which resources.")
    namespaces = f.List(f.String(), 6, omitempty=True, list_type="atomic")
    nonResourceURLs = f.List(
        f.String(), 7, omitempty=True, list_type="atomic", doc="With which paths that are no resources."
    )
    omitStages = f.List(f.String(typedef="v1.Stage"), 8, omitempty=True, list_type="atomic")
    omitManagedFields = f.Bool(9, ptr=True, omitempty=True)
