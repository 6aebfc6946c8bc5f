"""The types of apiextensions.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="apiextensions.k8s.io",
    version="v1",
    proto="k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1",
    openapi="io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
)


class ConversionRequest(KubeSchema, published=False):
    """Conversion request: part of ConversionReview.request."""

    uid = f.String(1, required=True, typedef="types.UID")
    desiredAPIVersion = f.String(2, required=True)
    objects = f.List(f.RawExtension(), 3, required=True, nullable=True, list_type="atomic")


class ConversionResponse(KubeSchema, published=False):
    """Conversion response: part of ConversionReview.response."""

    uid = f.String(1, required=True, typedef="types.UID")
    convertedObjects = f.List(f.RawExtension(), 2, required=True, nullable=True, list_type="atomic")
    result = f.Struct("hyperkube_api.meta.v1:Status", 3, required=True)


class ConversionReview(KubeObject, published=False):
    """Conversion review."""

    request = f.Struct("ConversionRequest", 1, ptr=True, omitempty=True)
    response = f.Struct("ConversionResponse", 2, ptr=True, omitempty=True)


class CustomResourceColumnDefinition(KubeSchema):
    """Custom resource column definition: part of CustomResourceDefinitionVersion.additionalPrinterColumns."""

    name = f.String(1, required=True)
    type = f.String(2, required=True)
    format = f.String(3, omitempty=True)
    description = f.String(4, omitempty=True)
    priority = f.Int32(5, omitempty=True)
    jsonPath = f.String(6, required=True)


class CustomResourceConversion(KubeSchema):
    """Custom resource conversion: part of CustomResourceDefinitionSpec.conversion."""

    strategy = f.String(1, required=True, typedef="v1.ConversionStrategyType")
    webhook = f.Struct("WebhookConversion", 2, ptr=True, omitempty=True)


class CustomResourceDefinition(KubeObject):
    """Adds a kind of one's own to the API."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("CustomResourceDefinitionSpec", 2, required=True, doc="What is wished for.")
    status = f.Struct("CustomResourceDefinitionStatus", 3, omitempty=True, doc="What is observed.")


class CustomResourceDefinitionCondition(KubeSchema):
    """Custom resource definition condition: part of CustomResourceDefinitionStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.CustomResourceDefinitionConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastTransitionTime = f.Time(3, omitempty=True, doc="When the condition last changed.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(5, omitempty=True, doc="Why, for people.")
    observedGeneration = f.Int64(
        6, omitempty=True, gate="CRDObservedGenerationTracking", doc="The generation that the status speaks of."
    )


class CustomResourceDefinitionList(KubeObject):
    """A list of CustomResourceDefinition objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("CustomResourceDefinition", 2, required=True, nullable=True, doc="The objects.")


class CustomResourceDefinitionNames(KubeSchema):
    """Custom resource definition names: part of CustomResourceDefinitionSpec.names, CustomResourceDefinitionStatus.acceptedNames."""

    plural = f.String(1, required=True)
    singular = f.String(2, omitempty=True)
    shortNames = f.List(f.String(), 3, omitempty=True, list_type="atomic")
    kind = f.String(4, required=True)
    listKind = f.String(5, omitempty=True)
    categories = f.List(f.String(), 6, omitempty=True, list_type="atomic")


class CustomResourceDefinitionSpec(KubeSchema):
    """What a CustomResourceDefinition should be."""

    group = f.String(1, required=True)
    names = f.Struct("CustomResourceDefinitionNames", 3, required=True)
    scope = f.String(4, required=True, typedef="v1.ResourceScope")
    versions = f.List("CustomResourceDefinitionVersion", 7, required=True, nullable=True, list_type="atomic")
    conversion = f.Struct("CustomResourceConversion", 9, ptr=True, omitempty=True)
    preserveUnknownFields = f.Bool(10, omitempty=True)


class CustomResourceDefinitionStatus(KubeSchema):
    """What is observed of a CustomResourceDefinition."""

    conditions = f.List(
        "CustomResourceDefinitionCondition",
        1,
        nullable=True,
        list_type="map",
        list_map_keys=("type",),
        doc="Aspects of the state, each true, false or unknown.",
    )
    acceptedNames = f.Struct("CustomResourceDefinitionNames", 2)
    storedVersions = f.List(f.String(), 3, nullable=True, list_type="atomic")
    observedGeneration = f.Int64(
        4, omitempty=True, gate="CRDObservedGenerationTracking", doc="The generation that the status speaks of."
    )


class CustomResourceDefinitionVersion(KubeSchema):
    """Custom resource definition version: part of CustomResourceDefinitionSpec.versions."""

    name = f.String(1, required=True)
    served = f.Bool(2, required=True)
    storage = f.Bool(3, required=True)
    deprecated = f.Bool(7, omitempty=True)
    deprecationWarning = f.String(8, ptr=True, omitempty=True)
    schema = f.Struct("CustomResourceValidation", 4, ptr=True, omitempty=True)
    subresources = f.Struct("CustomResourceSubresources", 5, ptr=True, omitempty=True)
    additionalPrinterColumns = f.List("CustomResourceColumnDefinition", 6, omitempty=True, list_type="atomic")
    selectableFields = f.List(
        "SelectableField", 9, omitempty=True, list_type="atomic", gate="CustomResourceFieldSelectors"
    )


class CustomResourceSubresourceScale(KubeSchema):
    """Custom resource subresource scale: part of CustomResourceSubresources.scale."""

    specReplicasPath = f.String(1, required=True)
    statusReplicasPath = f.String(2, required=True)
    labelSelectorPath = f.String(3, ptr=True, omitempty=True)


class CustomResourceSubresourceStatus(KubeSchema):
    """Custom resource subresource status: part of CustomResourceSubresources.status."""


class CustomResourceSubresources(KubeSchema):
    """Custom resource subresources: part of CustomResourceDefinitionVersion.subresources."""

    status = f.Struct("CustomResourceSubresourceStatus", 1, ptr=True, omitempty=True, doc="What is observed.")
    scale = f.Struct("CustomResourceSubresourceScale", 2, ptr=True, omitempty=True)


class CustomResourceValidation(KubeSchema):
    """Custom resource validation: part of CustomResourceDefinitionVersion.schema."""

    openAPIV3Schema = f.Struct("JSONSchemaProps", 1, ptr=True, omitempty=True)


class ExternalDocumentation(KubeSchema):
    """External documentation: part of JSONSchemaProps.externalDocs."""

    description = f.String(1, omitempty=True)
    url = f.String(2, omitempty=True)


class JSONSchemaProps(KubeSchema):
    """A JSON schema, in the part of OpenAPI v3 that custom resources may use."""

    id = f.String(1, omitempty=True)
    schema = f.String(2, name="$schema", omitempty=True)
    ref = f.String(3, name="$ref", ptr=True, omitempty=True)
    description = f.String(4, omitempty=True)
    type = f.String(5, omitempty=True)
    format = f.String(6, omitempty=True)
    title = f.String(7, omitempty=True)
    default = f.Json(8, ptr=True, omitempty=True)
    maximum = f.Float64(9, ptr=True, omitempty=True)
    exclusiveMaximum = f.Bool(10, omitempty=True)
    minimum = f.Float64(11, ptr=True, omitempty=True)
    exclusiveMinimum = f.Bool(12, omitempty=True)
    maxLength = f.Int64(13, ptr=True, omitempty=True)
    minLength = f.Int64(14, ptr=True, omitempty=True)
    pattern = f.String(15, omitempty=True)
    maxItems = f.Int64(16, ptr=True, omitempty=True)
    minItems = f.Int64(17, ptr=True, omitempty=True)
    uniqueItems = f.Bool(18, omitempty=True)
    multipleOf = f.Float64(19, ptr=True, omitempty=True)
    enum = f.List(f.Json(), 20, omitempty=True, list_type="atomic")
    maxProperties = f.Int64(21, ptr=True, omitempty=True)
    minProperties = f.Int64(22, ptr=True, omitempty=True)
    required = f.List(f.String(), 23, omitempty=True, list_type="atomic")
    items = f.Struct("JSONSchemaPropsOrArray", 24, ptr=True, omitempty=True, doc="The objects.")
    allOf = f.List("JSONSchemaProps", 25, omitempty=True, list_type="atomic")
    oneOf = f.List("JSONSchemaProps", 26, omitempty=True, list_type="atomic")
    anyOf = f.List("JSONSchemaProps", 27, omitempty=True, list_type="atomic")
    not_ = f.Struct("JSONSchemaProps", 28, name="not", ptr=True, omitempty=True)
    properties = f.Map("JSONSchemaProps", 29, omitempty=True)
    additionalProperties = f.Struct("JSONSchemaPropsOrBool", 30, ptr=True, omitempty=True)
    patternProperties = f.Map("JSONSchemaProps", 31, omitempty=True)
    dependencies = f.Map("JSONSchemaPropsOrStringArray", 32, omitempty=True, typedef="v1.JSONSchemaDependencies")
    additionalItems = f.Struct("JSONSchemaPropsOrBool", 33, ptr=True, omitempty=True)
    definitions = f.Map("JSONSchemaProps", 34, omitempty=True, typedef="v1.JSONSchemaDefinitions")
    externalDocs = f.Struct("ExternalDocumentation", 35, ptr=True, omitempty=True)
    example = f.Json(36, ptr=True, omitempty=True)
    nullable = f.Bool(37, omitempty=True)
    x_kubernetes_preserve_unknown_fields = f.Bool(
        38, name="x-kubernetes-preserve-unknown-fields", ptr=True, omitempty=True
    )
    x_kubernetes_embedded_resource = f.Bool(39, name="x-kubernetes-embedded-resource", omitempty=True)
    x_kubernetes_int_or_string = f.Bool(40, name="x-kubernetes-int-or-string", omitempty=True)
    x_kubernetes_list_map_keys = f.List(
        f.String(), 41, name="x-kubernetes-list-map-keys", omitempty=True, list_type="atomic"
    )
    x_kubernetes_list_type = f.String(42, name="x-kubernetes-list-type", ptr=True, omitempty=True)
    x_kubernetes_map_type = f.String(43, name="x-kubernetes-map-type", ptr=True, omitempty=True)
    x_kubernetes_validations = f.List(
        "ValidationRule",
        44,
        name="x-kubernetes-validations",
        omitempty=True,
        typedef="v1.ValidationRules",
        list_type="map",
        list_map_keys=("rule",),
        patch_strategy="merge",
        patch_merge_key="rule",
    )


class JSONSchemaPropsOrArray(KubeSchema, shape="array"):
    """JSON schema props or array: part of JSONSchemaProps.items."""

    schema = f.Struct("JSONSchemaProps", 1, ptr=True, hidden=True)
    jSONSchemas = f.List("JSONSchemaProps", 2, list_type="atomic", hidden=True)


class JSONSchemaPropsOrBool(KubeSchema, shape="bool"):
    """JSON schema props or bool: part of JSONSchemaProps.additionalProperties, JSONSchemaProps.additionalItems."""

    allows = f.Bool(1, hidden=True)
    schema = f.Struct("JSONSchemaProps", 2, ptr=True, hidden=True)


class JSONSchemaPropsOrStringArray(KubeSchema, shape="strings"):
    """JSON schema props or string array: part of JSONSchemaProps.dependencies."""

    schema = f.Struct("JSONSchemaProps", 1, ptr=True, hidden=True)
    property = f.List(f.String(), 2, list_type="atomic", hidden=True)


class SelectableField(KubeSchema):
    """Selectable field: part of CustomResourceDefinitionVersion.selectableFields."""

    jsonPath = f.String(1, required=True)


class ServiceReference(KubeSchema):
    """Service reference: part of WebhookClientConfig.service."""

    namespace = f.String(1, required=True)
    name = f.String(2, required=True)
    path = f.String(3, ptr=True, omitempty=True)
    port = f.Int32(4, ptr=True, omitempty=True)


class ValidationRule(KubeSchema):
    """Validation rule: part of JSONSchemaProps.x-kubernetes-validations."""

    rule = f.String(1, required=True)
    message = f.String(2, omitempty=True, doc="Why, for people.")
    messageExpression = f.String(3, omitempty=True)
    reason = f.String(
        4,
        ptr=True,
        omitempty=True,
        enum=("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"),
        typedef="v1.FieldValueErrorReason",
        doc="Why, in one word in CamelCase.",
    )
    fieldPath = f.String(5, omitempty=True)
    optionalOldSelf = f.Bool(6, ptr=True, omitempty=True, gate="CRDValidationRatcheting")


class WebhookClientConfig(KubeSchema):
    """Webhook client config: part of WebhookConversion.clientConfig."""

    url = f.String(3, ptr=True, omitempty=True)
    service = f.Struct("ServiceReference", 1, ptr=True, omitempty=True)
    caBundle = f.Bytes(2, omitempty=True, format="byte")


class WebhookConversion(KubeSchema):
    """Webhook conversion: part of CustomResourceConversion.webhook."""

    clientConfig = f.Struct("WebhookClientConfig", 2, ptr=True, omitempty=True)
    conversionReviewVersions = f.List(f.String(), 3, required=True, nullable=True, list_type="atomic")
