"""The types of admissionregistration.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="admissionregistration.k8s.io",
    version="v1",
    proto="k8s.io.api.admissionregistration.v1",
    openapi="io.k8s.api.admissionregistration.v1",
)


class ApplyConfiguration(KubeSchema):
    """Apply configuration: part of Mutation.applyConfiguration."""

    expression = f.String(1, omitempty=True)


class AuditAnnotation(KubeSchema):
    """Audit annotation: part of ValidatingAdmissionPolicySpec.auditAnnotations."""

    key = f.String(1, required=True)
    valueExpression = f.String(2, required=True)


class ExpressionWarning(KubeSchema):
    """Expression warning: part of TypeChecking.expressionWarnings."""

    fieldRef = f.String(2, required=True)
    warning = f.String(3, required=True)


class JSONPatch(KubeSchema):
    """JSON patch: part of Mutation.jsonPatch."""

    expression = f.String(1, omitempty=True)


class MatchCondition(KubeSchema):
    """Match condition: part of MutatingAdmissionPolicySpec.matchConditions, MutatingWebhook.matchConditions, ValidatingAdmissionPolicySpec.matchConditions and others."""

    name = f.String(1, required=True)
    expression = f.String(2, required=True)


class MatchResources(KubeSchema, struct_type="atomic"):
    """Match resources: part of MutatingAdmissionPolicyBindingSpec.matchResources, MutatingAdmissionPolicySpec.matchConstraints, ValidatingAdmissionPolicyBindingSpec.matchResources and others."""

    namespaceSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 1, ptr=True, omitempty=True)
    objectSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 2, ptr=True, omitempty=True)
    resourceRules = f.List("NamedRuleWithOperations", 3, omitempty=True, list_type="atomic")
    excludeResourceRules = f.List("NamedRuleWithOperations", 4, omitempty=True, list_type="atomic")
    matchPolicy = f.String(7, ptr=True, omitempty=True, enum=("Equivalent", "Exact"), typedef="v1.MatchPolicyType")


class MutatingAdmissionPolicy(KubeObject):
    """Changes to objects, written in CEL, before they are stored."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("MutatingAdmissionPolicySpec", 2, omitempty=True, doc="What is wished for.")


class MutatingAdmissionPolicyBinding(KubeObject):
    """Puts a MutatingAdmissionPolicy into force, with parameters and a scope."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("MutatingAdmissionPolicyBindingSpec", 2, omitempty=True, doc="What is wished for.")


class MutatingAdmissionPolicyBindingList(KubeObject):
    """A list of MutatingAdmissionPolicyBinding objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("MutatingAdmissionPolicyBinding", 2, required=True, nullable=True, doc="The objects.")


class MutatingAdmissionPolicyBindingSpec(KubeSchema):
    """What a MutatingAdmissionPolicyBinding should be."""

    policyName = f.String(1, omitempty=True)
    paramRef = f.Struct("ParamRef", 2, ptr=True, omitempty=True)
    matchResources = f.Struct("MatchResources", 3, ptr=True, omitempty=True)


class MutatingAdmissionPolicyList(KubeObject):
    """A list of MutatingAdmissionPolicy objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("MutatingAdmissionPolicy", 2, required=True, nullable=True, doc="The objects.")


class MutatingAdmissionPolicySpec(KubeSchema):
    """What a MutatingAdmissionPolicy should be."""

    paramKind = f.Struct("ParamKind", 1, ptr=True, omitempty=True)
    matchConstraints = f.Struct("MatchResources", 2, ptr=True, omitempty=True)
    variables = f.List("Variable", 3, omitempty=True, list_type="atomic")
    mutations = f.List("Mutation", 4, omitempty=True, list_type="atomic")
    failurePolicy = f.String(5, ptr=True, omitempty=True, enum=("Fail", "Ignore"), typedef="v1.FailurePolicyType")
    matchConditions = f.List(
        "MatchCondition",
        6,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
    )
    reinvocationPolicy = f.String(7, omitempty=True, enum=("IfNeeded", "Never"), typedef="v1.ReinvocationPolicyType")


class MutatingWebhook(KubeSchema):
    """Mutating webhook: part of MutatingWebhookConfiguration.webhooks."""

    name = f.String(1, required=True)
    clientConfig = f.Struct("WebhookClientConfig", 2, required=True)
    rules = f.List("RuleWithOperations", 3, omitempty=True, list_type="atomic")
    failurePolicy = f.String(4, ptr=True, omitempty=True, enum=("Fail", "Ignore"), typedef="v1.FailurePolicyType")
    matchPolicy = f.String(9, ptr=True, omitempty=True, enum=("Equivalent", "Exact"), typedef="v1.MatchPolicyType")
    namespaceSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 5, ptr=True, omitempty=True)
    objectSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 11, ptr=True, omitempty=True)
    sideEffects = f.String(
        6,
        required=True,
        ptr=True,
        nullable=True,
        enum=("None", "NoneOnDryRun", "Some", "Unknown"),
        typedef="v1.SideEffectClass",
    )
    timeoutSeconds = f.Int32(7, ptr=True, omitempty=True)
    admissionReviewVersions = f.List(f.String(), 8, required=True, nullable=True, list_type="atomic")
    reinvocationPolicy = f.String(
        10, ptr=True, omitempty=True, enum=("IfNeeded", "Never"), typedef="v1.ReinvocationPolicyType"
    )
    matchConditions = f.List(
        "MatchCondition",
        12,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
    )


class MutatingWebhookConfiguration(KubeObject):
    """Webhooks that may change objects before they are stored."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    webhooks = f.List(
        "MutatingWebhook",
        2,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
    )


class MutatingWebhookConfigurationList(KubeObject):
    """A list of MutatingWebhookConfiguration objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("MutatingWebhookConfiguration", 2, required=True, nullable=True, doc="The objects.")


class Mutation(KubeSchema):
    """Mutation: part of MutatingAdmissionPolicySpec.mutations."""

    patchType = f.String(2, required=True, enum=("ApplyConfiguration", "JSONPatch"), typedef="v1.PatchType")
    applyConfiguration = f.Struct("ApplyConfiguration", 3, ptr=True, omitempty=True)
    jsonPatch = f.Struct("JSONPatch", 4, ptr=True, omitempty=True)


class NamedRuleWithOperations(KubeSchema, struct_type="atomic"):
    """Named rule with operations: part of MatchResources.resourceRules, MatchResources.excludeResourceRules."""

    resourceNames = f.List(f.String(), 1, omitempty=True, list_type="atomic")
    rule_with_operations = f.Inline("RuleWithOperations", 2)


class ParamKind(KubeSchema, struct_type="atomic"):
    """Param kind: part of MutatingAdmissionPolicySpec.paramKind, ValidatingAdmissionPolicySpec.paramKind."""

    apiVersion = f.String(1, omitempty=True)
    kind = f.String(2, omitempty=True)


class ParamRef(KubeSchema, struct_type="atomic"):
    """Param ref: part of MutatingAdmissionPolicyBindingSpec.paramRef, ValidatingAdmissionPolicyBindingSpec.paramRef."""

    name = f.String(1, omitempty=True)
    namespace = f.String(2, omitempty=True)
    selector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 3, ptr=True, omitempty=True)
    parameterNotFoundAction = f.String(4, ptr=True, omitempty=True, typedef="v1.ParameterNotFoundActionType")


class Rule(KubeSchema, published=False):
    """Rule: part of RuleWithOperations."""

    apiGroups = f.List(f.String(), 1, omitempty=True, list_type="atomic")
    apiVersions = f.List(f.String(), 2, omitempty=True, list_type="atomic")
    resources = f.List(f.String(), 3, omitempty=True, list_type="atomic")
    scope = f.String(4, ptr=True, omitempty=True, enum=("*", "Cluster", "Namespaced"), typedef="v1.ScopeType")


class RuleWithOperations(KubeSchema):
    """Rule with operations: part of MutatingWebhook.rules, NamedRuleWithOperations, ValidatingWebhook.rules."""

    operations = f.List(
        f.String(typedef="v1.OperationType"),
        1,
        omitempty=True,
        enum=("*", "CONNECT", "CREATE", "DELETE", "UPDATE"),
        list_type="atomic",
    )
    rule = f.Inline("Rule", 2)


class ServiceReference(KubeSchema):
    """Service reference: part of WebhookClientConfig.service."""

    namespace = f.String(1, required=True)
    name = f.String(2, required=True)
    path = f.String(3, ptr=True, omitempty=True)
    port = f.Int32(4, ptr=True, omitempty=True)


class TypeChecking(KubeSchema):
    """Type checking: part of ValidatingAdmissionPolicyStatus.typeChecking."""

    expressionWarnings = f.List("ExpressionWarning", 1, omitempty=True, list_type="atomic")


class ValidatingAdmissionPolicy(KubeObject):
    """Rules in CEL that requests have to pass."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ValidatingAdmissionPolicySpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("ValidatingAdmissionPolicyStatus", 3, omitempty=True, doc="What is observed.")


class ValidatingAdmissionPolicyBinding(KubeObject):
    """Puts a ValidatingAdmissionPolicy into force, with parameters and a scope."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ValidatingAdmissionPolicyBindingSpec", 2, required=True, omitempty=True, doc="What is wished for.")


class ValidatingAdmissionPolicyBindingList(KubeObject):
    """A list of ValidatingAdmissionPolicyBinding objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ValidatingAdmissionPolicyBinding", 2, required=True, nullable=True, doc="The objects.")


class ValidatingAdmissionPolicyBindingSpec(KubeSchema):
    """What a ValidatingAdmissionPolicyBinding should be."""

    policyName = f.String(1, required=True, omitempty=True, dv=('k8s:alpha(since: "1.36")=+k8s:required',))
    paramRef = f.Struct("ParamRef", 2, ptr=True, omitempty=True)
    matchResources = f.Struct("MatchResources", 3, ptr=True, omitempty=True)
    validationActions = f.List(
        f.String(typedef="v1.ValidationAction"),
        4,
        required=True,
        omitempty=True,
        enum=("Audit", "Deny", "Warn"),
        list_type="set",
        dv=('k8s:alpha(since: "1.36")=+k8s:required',),
    )


class ValidatingAdmissionPolicyList(KubeObject):
    """A list of ValidatingAdmissionPolicy objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ValidatingAdmissionPolicy", 2, required=True, nullable=True, doc="The objects.")


class ValidatingAdmissionPolicySpec(KubeSchema):
    """What a ValidatingAdmissionPolicy should be."""

    paramKind = f.Struct("ParamKind", 1, ptr=True, omitempty=True)
    matchConstraints = f.Struct("MatchResources", 2, ptr=True, omitempty=True)
    validations = f.List("Validation", 3, omitempty=True, list_type="atomic")
    failurePolicy = f.String(4, ptr=True, omitempty=True, enum=("Fail", "Ignore"), typedef="v1.FailurePolicyType")
    auditAnnotations = f.List("AuditAnnotation", 5, omitempty=True, list_type="atomic")
    matchConditions = f.List(
        "MatchCondition",
        6,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
    )
    variables = f.List(
        "Variable",
        7,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
    )


class ValidatingAdmissionPolicyStatus(KubeSchema):
    """What is observed of a ValidatingAdmissionPolicy."""

    observedGeneration = f.Int64(1, omitempty=True, doc="The generation that the status speaks of.")
    typeChecking = f.Struct("TypeChecking", 2, ptr=True, omitempty=True)
    conditions = f.List(
        "hyperkube_api.meta.v1:Condition",
        3,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        doc="Aspects of the state, each true, false or unknown.",
    )


class ValidatingWebhook(KubeSchema):
    """Validating webhook: part of ValidatingWebhookConfiguration.webhooks."""

    name = f.String(1, required=True)
    clientConfig = f.Struct("WebhookClientConfig", 2, required=True)
    rules = f.List("RuleWithOperations", 3, omitempty=True, list_type="atomic")
    failurePolicy = f.String(4, ptr=True, omitempty=True, enum=("Fail", "Ignore"), typedef="v1.FailurePolicyType")
    matchPolicy = f.String(9, ptr=True, omitempty=True, enum=("Equivalent", "Exact"), typedef="v1.MatchPolicyType")
    namespaceSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 5, ptr=True, omitempty=True)
    objectSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 10, ptr=True, omitempty=True)
    sideEffects = f.String(
        6,
        required=True,
        ptr=True,
        nullable=True,
        enum=("None", "NoneOnDryRun", "Some", "Unknown"),
        typedef="v1.SideEffectClass",
    )
    timeoutSeconds = f.Int32(7, ptr=True, omitempty=True)
    admissionReviewVersions = f.List(f.String(), 8, required=True, nullable=True, list_type="atomic")
    matchConditions = f.List(
        "MatchCondition",
        11,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
    )


class ValidatingWebhookConfiguration(KubeObject):
    """Webhooks that may refuse requests."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    webhooks = f.List(
        "ValidatingWebhook",
        2,
        omitempty=True,
        list_type="map",
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
    )


class ValidatingWebhookConfigurationList(KubeObject):
    """A list of ValidatingWebhookConfiguration objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ValidatingWebhookConfiguration", 2, required=True, nullable=True, doc="The objects.")


class Validation(KubeSchema):
    """Validation: part of ValidatingAdmissionPolicySpec.validations."""

    expression = f.String(1, required=True)
    message = f.String(2, omitempty=True, doc="Why, for people.")
    reason = f.String(3, ptr=True, omitempty=True, typedef="v1.StatusReason", doc="Why, in one word in CamelCase.")
    messageExpression = f.String(4, omitempty=True)


class Variable(KubeSchema, struct_type="atomic"):
    """Variable: part of MutatingAdmissionPolicySpec.variables, ValidatingAdmissionPolicySpec.variables."""

    name = f.String(1, required=True)
    expression = f.String(2, required=True)


class WebhookClientConfig(KubeSchema):
    """Webhook client config: part of MutatingWebhook.clientConfig, ValidatingWebhook.clientConfig."""

    url = f.String(3, ptr=True, omitempty=True)
    service = f.Struct("ServiceReference", 1, ptr=True, omitempty=True)
    caBundle = f.Bytes(2, omitempty=True, format="byte")
