"""The types of meta/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="",
    version="v1",
    proto="k8s.io.apimachinery.pkg.apis.meta.v1",
    openapi="io.k8s.apimachinery.pkg.apis.meta.v1",
)


class APIGroup(KubeObject):
    """A group of the API and its versions."""

    name = f.String(1, required=True)
    versions = f.List("GroupVersionForDiscovery", 2, required=True, nullable=True, list_type="atomic")
    preferredVersion = f.Struct("GroupVersionForDiscovery", 3, omitempty=True)
    serverAddressByClientCIDRs = f.List("ServerAddressByClientCIDR", 4, omitempty=True, list_type="atomic")


class APIGroupList(KubeObject):
    """All groups of the API."""

    groups = f.List("APIGroup", 1, required=True, nullable=True, list_type="atomic")


class APIResource(KubeSchema):
    """One resource of a group version."""

    name = f.String(1, required=True)
    singularName = f.String(6, required=True)
    namespaced = f.Bool(2, required=True)
    group = f.String(8, omitempty=True)
    version = f.String(9, omitempty=True)
    kind = f.String(3, required=True)
    verbs = f.List(f.String(), 4, required=True, nullable=True, typedef="v1.Verbs", wrapper=True)
    shortNames = f.List(f.String(), 5, omitempty=True, list_type="atomic")
    categories = f.List(f.String(), 7, omitempty=True, list_type="atomic")
    storageVersionHash = f.String(10, omitempty=True)


class APIResourceList(KubeObject):
    """The resources of one group version."""

    groupVersion = f.String(1, required=True)
    resources = f.List("APIResource", 2, required=True, nullable=True, list_type="atomic")


class APIVersions(KubeObject):
    """The versions of the core group."""

    versions = f.List(f.String(), 1, required=True, nullable=True, list_type="atomic")
    serverAddressByClientCIDRs = f.List(
        "ServerAddressByClientCIDR", 2, required=True, nullable=True, list_type="atomic"
    )


class ApplyOptions(KubeObject, published=False):
    """How to apply."""

    dryRun = f.List(f.String(), 1, omitempty=True, list_type="atomic")
    force = f.Bool(2, required=True)
    fieldManager = f.String(3, required=True)


class Condition(KubeSchema):
    """One aspect of an object's state: true, false or unknown, since when and why."""

    type = f.String(1, required=True)
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    observedGeneration = f.Int64(3, omitempty=True, doc="The generation that the status speaks of.")
    lastTransitionTime = f.Time(4, required=True, nullable=True, doc="When the condition last changed.")
    reason = f.String(5, required=True, doc="Why, in one word in CamelCase.")
    message = f.String(6, required=True, doc="Why, for people.")


class CreateOptions(KubeObject, published=False):
    """How to create."""

    dryRun = f.List(f.String(), 1, omitempty=True, list_type="atomic")
    fieldManager = f.String(3, omitempty=True, dv=("k8s:deprecated=includeUninitialized,protobuf=2",))
    fieldValidation = f.String(4, omitempty=True)


class DeleteOptions(KubeObject, every_group=True):
    """How to delete."""

    gracePeriodSeconds = f.Int64(1, ptr=True, omitempty=True)
    preconditions = f.Struct("Preconditions", 2, ptr=True, omitempty=True)
    orphanDependents = f.Bool(3, ptr=True, omitempty=True)
    propagationPolicy = f.String(4, ptr=True, omitempty=True, typedef="v1.DeletionPropagation")
    dryRun = f.List(f.String(), 5, omitempty=True, list_type="atomic")
    ignoreStoreReadErrorWithClusterBreakingPotential = f.Bool(6, ptr=True, omitempty=True)


class FieldSelectorRequirement(KubeSchema):
    """Field selector requirement: part of FieldSelectorAttributes.requirements."""

    key = f.String(1, required=True)
    operator = f.String(2, required=True, typedef="v1.FieldSelectorOperator")
    values = f.List(f.String(), 3, omitempty=True, list_type="atomic")


class GetOptions(KubeObject, published=False):
    """How to read."""

    resourceVersion = f.String(1, omitempty=True)


class GroupKind(KubeSchema, published=False):
    """Group kind."""

    group = f.String(1, required=True)
    kind = f.String(2, required=True)


class GroupResource(KubeSchema):
    """Group resource: part of StorageVersionMigrationSpec.resource."""

    group = f.String(1, required=True)
    resource = f.String(2, required=True)


class GroupVersion(KubeSchema, published=False):
    """Group version."""

    group = f.String(1, required=True)
    version = f.String(2, required=True)


class GroupVersionForDiscovery(KubeSchema):
    """Group version for discovery: part of APIGroup.versions, APIGroup.preferredVersion."""

    groupVersion = f.String(1, required=True)
    version = f.String(2, required=True)


class GroupVersionKind(KubeSchema, published=False):
    """Group version kind: part of AdmissionRequest.kind."""

    group = f.String(1, required=True)
    version = f.String(2, required=True)
    kind = f.String(3, required=True)


class GroupVersionResource(KubeSchema, published=False):
    """Group version resource: part of AdmissionRequest.resource."""

    group = f.String(1, required=True)
    version = f.String(2, required=True)
    resource = f.String(3, required=True)


class LabelSelector(KubeSchema, struct_type="atomic"):
    """Chooses objects by their labels; all requirements must hold."""

    matchLabels = f.Map(f.String(), 1, omitempty=True, doc="Labels that must have just these values.")
    matchExpressions = f.List(
        "LabelSelectorRequirement", 2, omitempty=True, list_type="atomic", doc="Further requirements."
    )


class LabelSelectorRequirement(KubeSchema):
    """A requirement on one label: an operator and values."""

    key = f.String(1, required=True)
    operator = f.String(2, required=True, typedef="v1.LabelSelectorOperator")
    values = f.List(f.String(), 3, omitempty=True, list_type="atomic")


class List(KubeObject, published=False):
    """List."""

    metadata = f.Struct("ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List(f.RawExtension(), 2, required=True, nullable=True, doc="The objects.")


class ListMeta(KubeSchema):
    """What every list has: its revision and how to go on reading it."""

    selfLink = f.String(1, omitempty=True)
    resourceVersion = f.String(2, omitempty=True, doc="The revision at which the list is true.")
    continue_ = f.String(3, name="continue", omitempty=True, doc="Pass it back to read on.")
    remainingItemCount = f.Int64(4, ptr=True, omitempty=True, doc="How many objects follow, if that is known.")
    shardInfo = f.Struct("ShardInfo", 5, ptr=True, omitempty=True, gate="ShardedListAndWatch")


class ListOptions(KubeObject, published=False):
    """How to list or watch."""

    labelSelector = f.String(1, omitempty=True)
    fieldSelector = f.String(2, omitempty=True)
    watch = f.Bool(3, omitempty=True, dv=("k8s:deprecated=includeUninitialized,protobuf=6",))
    allowWatchBookmarks = f.Bool(9, omitempty=True)
    resourceVersion = f.String(4, omitempty=True)
    resourceVersionMatch = f.String(10, omitempty=True, typedef="v1.ResourceVersionMatch")
    timeoutSeconds = f.Int64(5, ptr=True, omitempty=True)
    limit = f.Int64(7, omitempty=True)
    continue_ = f.String(8, name="continue", omitempty=True)
    sendInitialEvents = f.Bool(11, ptr=True, omitempty=True)
    shardSelector = f.String(15, omitempty=True, gate="ShardedListAndWatch")


class ManagedFieldsEntry(KubeSchema, templated=True):
    """The fields that one manager owns."""

    manager = f.String(1, omitempty=True)
    operation = f.String(2, omitempty=True, typedef="v1.ManagedFieldsOperationType")
    apiVersion = f.String(3, omitempty=True)
    time = f.Time(4, ptr=True, omitempty=True)
    fieldsType = f.String(6, omitempty=True)
    fieldsV1 = f.FieldsV1(7, ptr=True, omitempty=True)
    subresource = f.String(8, omitempty=True)


class ObjectMeta(KubeSchema, own=("name", "uid", "resourceVersion")):
    """What every stored object has: its name, labels, owners and history."""

    name = f.String(
        1, omitempty=True, doc="The name, unique among objects of the kind in the namespace; cannot be changed."
    )
    generateName = f.String(2, omitempty=True, doc="A prefix from which the server makes a name, when none is given.")
    namespace = f.String(3, omitempty=True, doc="The namespace; empty for kinds of the whole cluster.")
    selfLink = f.String(4, omitempty=True)
    uid = f.String(5, omitempty=True, doc="Identifies this object for ever; set by the server.", typedef="types.UID")
    resourceVersion = f.String(6, omitempty=True, doc="The revision of the last change; compare for equality only.")
    generation = f.Int64(7, omitempty=True, doc="Counts the changes of what is wished for.")
    creationTimestamp = f.Time(8, omitempty=True, omitzero=True, doc="When the object was created; set by the server.")
    deletionTimestamp = f.Time(
        9, ptr=True, omitempty=True, doc="When the object will go, once its deletion was asked for."
    )
    deletionGracePeriodSeconds = f.Int64(10, ptr=True, omitempty=True, doc="The seconds it has left to end by itself.")
    labels = f.Map(f.String(), 11, omitempty=True, doc="Short marks to select objects by.")
    annotations = f.Map(f.String(), 12, omitempty=True, doc="Notes of any kind, for people and tools.")
    ownerReferences = f.List(
        "OwnerReference",
        13,
        omitempty=True,
        list_type="map",
        list_map_keys=("uid",),
        patch_strategy="merge",
        patch_merge_key="uid",
        doc="The objects this one belongs to.",
    )
    finalizers = f.List(
        f.String(),
        14,
        omitempty=True,
        list_type="set",
        patch_strategy="merge",
        doc="Tasks to be done before the object may go; it stays while there are any.",
    )
    managedFields = f.List(
        "ManagedFieldsEntry", 17, omitempty=True, list_type="atomic", doc="Who owns which field, for server-side apply."
    )


class OwnerReference(KubeSchema, struct_type="atomic"):
    """An object that this one belongs to; it is deleted with the last of its owners."""

    apiVersion = f.String(5, required=True)
    kind = f.String(1, required=True)
    name = f.String(3, required=True)
    uid = f.String(4, required=True, typedef="types.UID")
    controller = f.Bool(6, ptr=True, omitempty=True)
    blockOwnerDeletion = f.Bool(7, ptr=True, omitempty=True)


class PartialObjectMetadata(KubeObject, published=False):
    """An object of any kind, of which only the metadata are given."""

    metadata = f.Struct("ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")


class PartialObjectMetadataList(KubeObject, published=False):
    """A list of objects of which only the metadata are given."""

    metadata = f.Struct("ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PartialObjectMetadata", 2, required=True, nullable=True, doc="The objects.")


class Patch(KubeSchema):
    """Patch."""


class PatchOptions(KubeObject, published=False):
    """How to patch."""

    dryRun = f.List(f.String(), 1, omitempty=True, list_type="atomic")
    force = f.Bool(2, ptr=True, omitempty=True)
    fieldManager = f.String(3, omitempty=True)
    fieldValidation = f.String(4, omitempty=True)


class Preconditions(KubeSchema):
    """What must be true of the object for the request to be carried out."""

    uid = f.String(1, ptr=True, omitempty=True, typedef="types.UID")
    resourceVersion = f.String(2, ptr=True, omitempty=True)


class RootPaths(KubeSchema, published=False):
    """Root paths."""

    paths = f.List(f.String(), 1, required=True, nullable=True, list_type="atomic")


class ServerAddressByClientCIDR(KubeSchema):
    """Server address by client CIDR: part of APIGroup.serverAddressByClientCIDRs, APIVersions.serverAddressByClientCIDRs."""

    clientCIDR = f.String(1, required=True)
    serverAddress = f.String(2, required=True)


class ShardInfo(KubeSchema):
    """Shard info: part of ListMeta.shardInfo."""

    selector = f.String(1, required=True)


class Status(KubeObject):
    """The outcome of a request that returns no object."""

    metadata = f.Struct("ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    status = f.String(2, omitempty=True, doc="What is observed.")
    message = f.String(3, omitempty=True, doc="Why, for people.")
    reason = f.String(4, omitempty=True, typedef="v1.StatusReason", doc="Why, in one word in CamelCase.")
    details = f.Struct("StatusDetails", 5, ptr=True, omitempty=True)
    code = f.Int32(6, omitempty=True)


class StatusCause(KubeSchema):
    """One reason for a Status, with the field it concerns."""

    reason = f.String(1, omitempty=True, typedef="v1.CauseType", doc="Why, in one word in CamelCase.")
    message = f.String(2, omitempty=True, doc="Why, for people.")
    field = f.String(3, omitempty=True)


class StatusDetails(KubeSchema):
    """What a Status is about."""

    name = f.String(1, omitempty=True)
    group = f.String(2, omitempty=True)
    kind = f.String(3, omitempty=True)
    uid = f.String(6, omitempty=True, typedef="types.UID")
    causes = f.List("StatusCause", 4, omitempty=True, list_type="atomic")
    retryAfterSeconds = f.Int32(5, omitempty=True)


class Table(KubeObject, published=False):
    """Objects printed as rows and columns."""

    metadata = f.Struct("ListMeta", omitempty=True, doc="Standard metadata of the object.")
    columnDefinitions = f.List("TableColumnDefinition", required=True, nullable=True, list_type="atomic")
    rows = f.List("TableRow", required=True, nullable=True, list_type="atomic")


class TableColumnDefinition(KubeSchema, published=False):
    """Table column definition: part of Table.columnDefinitions."""

    name = f.String(required=True)
    type = f.String(required=True)
    format = f.String(required=True)
    description = f.String(required=True)
    priority = f.Int32(required=True)


class TableOptions(KubeObject, published=False):
    """Table options."""

    includeObject = f.String(1, omitempty=True, typedef="v1.IncludeObjectPolicy")


class TableRow(KubeSchema, published=False):
    """Table row: part of Table.rows."""

    cells = f.List(f.AnyValue(), required=True, nullable=True, list_type="atomic")
    conditions = f.List(
        "TableRowCondition",
        omitempty=True,
        list_type="atomic",
        doc="Aspects of the state, each true, false or unknown.",
    )
    object = f.RawExtension(omitempty=True)


class TableRowCondition(KubeSchema, published=False):
    """Table row condition: part of TableRow.conditions."""

    type = f.String(required=True, typedef="v1.RowConditionType")
    status = f.String(required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    reason = f.String(omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(omitempty=True, doc="Why, for people.")


class TypeMeta(KubeSchema, published=False):
    """Type meta: part of AdmissionReview, APIGroup, APIGroupList and others."""

    kind = f.String(1, omitempty=True)
    apiVersion = f.String(2, omitempty=True)


class UpdateOptions(KubeObject, published=False):
    """How to update."""

    dryRun = f.List(f.String(), 1, omitempty=True, list_type="atomic")
    fieldManager = f.String(2, omitempty=True)
    fieldValidation = f.String(3, omitempty=True)


class WatchEvent(KubeSchema, every_group=True):
    """One event of a watch: what happened, and the object after it."""

    type = f.String(1, required=True)
    object = f.RawExtension(2, required=True, nullable=True)
