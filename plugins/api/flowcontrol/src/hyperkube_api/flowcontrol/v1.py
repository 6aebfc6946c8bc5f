"""The types of flowcontrol.apiserver.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="flowcontrol.apiserver.k8s.io",
    version="v1",
    proto="k8s.io.api.flowcontrol.v1",
    openapi="io.k8s.api.flowcontrol.v1",
)


class ExemptPriorityLevelConfiguration(KubeSchema):
    """Exempt priority level configuration: part of PriorityLevelConfigurationSpec.exempt."""

    nominalConcurrencyShares = f.Int32(1, ptr=True, omitempty=True)
    lendablePercent = f.Int32(2, ptr=True, omitempty=True)


class FlowDistinguisherMethod(KubeSchema):
    """Flow distinguisher method: part of FlowSchemaSpec.distinguisherMethod."""

    type = f.String(1, required=True, typedef="v1.FlowDistinguisherMethodType")


class FlowSchema(KubeObject):
    """Sorts requests into priority levels."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("FlowSchemaSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("FlowSchemaStatus", 3, omitempty=True, doc="What is observed.")


class FlowSchemaCondition(KubeSchema):
    """Flow schema condition: part of FlowSchemaStatus.conditions."""

    type = f.String(1, omitempty=True)
    status = f.String(2, omitempty=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastTransitionTime = f.Time(3, omitempty=True, doc="When the condition last changed.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(5, omitempty=True, doc="Why, for people.")


class FlowSchemaList(KubeObject):
    """A list of FlowSchema objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("FlowSchema", 2, required=True, nullable=True, doc="The objects.")


class FlowSchemaSpec(KubeSchema):
    """What a FlowSchema should be."""

    priorityLevelConfiguration = f.Struct("PriorityLevelConfigurationReference", 1, required=True)
    matchingPrecedence = f.Int32(2)
    distinguisherMethod = f.Struct("FlowDistinguisherMethod", 3, ptr=True, omitempty=True)
    rules = f.List("PolicyRulesWithSubjects", 4, omitempty=True, list_type="atomic")


class FlowSchemaStatus(KubeSchema):
    """What is observed of a FlowSchema."""

    conditions = f.List(
        "FlowSchemaCondition",
        1,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )


class GroupSubject(KubeSchema):
    """Group subject: part of Subject.group."""

    name = f.String(1, required=True)


class LimitResponse(KubeSchema, unions=(f.Union("type", {"queuing": "Queuing"}),)):
    """Limit response: part of LimitedPriorityLevelConfiguration.limitResponse."""

    type = f.String(
        1,
        required=True,
        typedef="v1.LimitResponseType",
        dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:discriminator'),
    )
    queuing = f.Struct(
        "QueuingConfiguration",
        2,
        ptr=True,
        omitempty=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:member("Queue")=+k8s:required',
            'k8s:alpha(since: "1.36")=+k8s:member("Reject")=+k8s:forbidden',
        ),
    )


class LimitedPriorityLevelConfiguration(KubeSchema):
    """Limited priority level configuration: part of PriorityLevelConfigurationSpec.limited."""

    nominalConcurrencyShares = f.Int32(1, ptr=True, nullable=True)
    limitResponse = f.Struct("LimitResponse", 2, omitempty=True)
    lendablePercent = f.Int32(3, ptr=True, omitempty=True)
    borrowingLimitPercent = f.Int32(4, ptr=True, omitempty=True)


class NonResourcePolicyRule(KubeSchema):
    """Non resource policy rule: part of PolicyRulesWithSubjects.nonResourceRules."""

    verbs = f.List(f.String(), 1, required=True, nullable=True, list_type="set")
    nonResourceURLs = f.List(f.String(), 6, required=True, nullable=True, list_type="set")


class PolicyRulesWithSubjects(KubeSchema):
    """Policy rules with subjects: part of FlowSchemaSpec.rules."""

    subjects = f.List("Subject", 1, required=True, nullable=True, list_type="atomic")
    resourceRules = f.List("ResourcePolicyRule", 2, omitempty=True, list_type="atomic")
    nonResourceRules = f.List("NonResourcePolicyRule", 3, omitempty=True, list_type="atomic")


class PriorityLevelConfiguration(KubeObject):
    """How many requests of a level are served at a time, and what waits."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("PriorityLevelConfigurationSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("PriorityLevelConfigurationStatus", 3, omitempty=True, doc="What is observed.")


class PriorityLevelConfigurationCondition(KubeSchema):
    """Priority level configuration condition: part of PriorityLevelConfigurationStatus.conditions."""

    type = f.String(1, omitempty=True)
    status = f.String(2, omitempty=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastTransitionTime = f.Time(3, omitempty=True, doc="When the condition last changed.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(5, omitempty=True, doc="Why, for people.")


class PriorityLevelConfigurationList(KubeObject):
    """A list of PriorityLevelConfiguration objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PriorityLevelConfiguration", 2, required=True, nullable=True, doc="The objects.")


class PriorityLevelConfigurationReference(KubeSchema):
    """Priority level configuration reference: part of FlowSchemaSpec.priorityLevelConfiguration."""

    name = f.String(1, required=True)


class PriorityLevelConfigurationSpec(KubeSchema, unions=(f.Union("type", {"exempt": "Exempt", "limited": "Limited"}),)):
    """What a PriorityLevelConfiguration should be."""

    type = f.String(
        1,
        required=True,
        typedef="v1.PriorityLevelEnablement",
        dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:discriminator'),
    )
    limited = f.Struct(
        "LimitedPriorityLevelConfiguration",
        2,
        ptr=True,
        omitempty=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:member("Limited")=+k8s:required',
            'k8s:alpha(since: "1.36")=+k8s:member("Exempt")=+k8s:forbidden',
        ),
    )
    exempt = f.Struct(
        "ExemptPriorityLevelConfiguration",
        3,
        ptr=True,
        omitempty=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:member("Exempt")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:member("Limited")=+k8s:forbidden',
        ),
    )


class PriorityLevelConfigurationStatus(KubeSchema):
    """What is observed of a PriorityLevelConfiguration."""

    conditions = f.List(
        "PriorityLevelConfigurationCondition",
        1,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )


class QueuingConfiguration(KubeSchema):
    """Queuing configuration: part of LimitResponse.queuing."""

    queues = f.Int32(1)
    handSize = f.Int32(2)
    queueLengthLimit = f.Int32(3)


class ResourcePolicyRule(KubeSchema):
    """Resource policy rule: part of PolicyRulesWithSubjects.resourceRules."""

    verbs = f.List(f.String(), 1, required=True, nullable=True, list_type="set")
    apiGroups = f.List(f.String(), 2, required=True, nullable=True, list_type="set")
    resources = f.List(f.String(), 3, required=True, nullable=True, list_type="set")
    clusterScope = f.Bool(4, omitempty=True)
    namespaces = f.List(f.String(), 5, nullable=True, list_type="set")


class ServiceAccountSubject(KubeSchema):
    """Service account subject: part of Subject.serviceAccount."""

    namespace = f.String(1, required=True)
    name = f.String(2, required=True)


class Subject(
    KubeSchema, unions=(f.Union("kind", {"group": "Group", "serviceAccount": "ServiceAccount", "user": "User"}),)
):
    """A user, a group or a service account."""

    kind = f.String(1, required=True, typedef="v1.SubjectKind")
    user = f.Struct("UserSubject", 2, ptr=True, omitempty=True)
    group = f.Struct("GroupSubject", 3, ptr=True, omitempty=True)
    serviceAccount = f.Struct("ServiceAccountSubject", 4, ptr=True, omitempty=True)


class UserSubject(KubeSchema):
    """User subject: part of Subject.user."""

    name = f.String(1, required=True)
