"""The types of apiextensions.k8s.io/v1beta1: what all versions of a kind share stands beside them."""

# ruff: noqa: N815 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube_api.apiextensions import v1 as newer
from hyperkube_api.meta.schema_aliases import alias, list_alias

from hyperkube.machinery.schema import KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="apiextensions.k8s.io",
    version="v1beta1",
    proto="k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1beta1",
    openapi="io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1",
)
_HOME = "hyperkube_api.apiextensions.v1"


class CustomResourceColumnDefinition(KubeSchema):
    """Custom resource column definition: part of CustomResourceDefinitionSpec.additionalPrinterColumns."""

    name = f.String(1, required=True)
    type = f.String(2, required=True)
    format = f.String(3, omitempty=True)
    description = f.String(4, omitempty=True)
    priority = f.Int32(5, omitempty=True)
    JSONPath = f.String(6, required=True)


class CustomResourceConversion(KubeSchema):
    """Custom resource conversion: part of CustomResourceDefinitionSpec.conversion."""

    strategy = f.String(1, required=True, typedef="v1beta1.ConversionStrategyType")
    webhookClientConfig = f.Struct(f"{_HOME}:WebhookClientConfig", 2, ptr=True, omitempty=True)
    conversionReviewVersions = f.List(f.String(), 3, omitempty=True, list_type="atomic")


class CustomResourceDefinitionVersion(KubeSchema):
    """Custom resource definition version: part of CustomResourceDefinitionSpec.versions."""

    name = f.String(1, required=True)
    served = f.Bool(2, required=True)
    storage = f.Bool(3, required=True)
    deprecated = f.Bool(7, omitempty=True)
    deprecationWarning = f.String(8, ptr=True, omitempty=True)
    schema = f.Struct(f"{_HOME}:CustomResourceValidation", 4, ptr=True, omitempty=True)
    subresources = f.Struct(f"{_HOME}:CustomResourceSubresources", 5, ptr=True, omitempty=True)
    additionalPrinterColumns = f.List("CustomResourceColumnDefinition", 6, omitempty=True, list_type="atomic")
    selectableFields = f.List(f"{_HOME}:SelectableField", 9, omitempty=True, list_type="atomic")


class CustomResourceDefinitionSpec(KubeSchema):
    """What a CustomResourceDefinition should be."""

    group = f.String(1, required=True)
    version = f.String(2, omitempty=True)
    names = f.Struct(f"{_HOME}:CustomResourceDefinitionNames", 3, required=True)
    scope = f.String(4, required=True, typedef="v1beta1.ResourceScope")
    validation = f.Struct(f"{_HOME}:CustomResourceValidation", 5, ptr=True, omitempty=True)
    subresources = f.Struct(f"{_HOME}:CustomResourceSubresources", 6, ptr=True, omitempty=True)
    versions = f.List("CustomResourceDefinitionVersion", 7, omitempty=True, list_type="atomic")
    additionalPrinterColumns = f.List("CustomResourceColumnDefinition", 8, omitempty=True, list_type="atomic")
    selectableFields = f.List(f"{_HOME}:SelectableField", 11, omitempty=True, list_type="atomic")
    conversion = f.Struct("CustomResourceConversion", 9, ptr=True, omitempty=True)
    preserveUnknownFields = f.Bool(10, ptr=True, omitempty=True)


CustomResourceDefinition = alias(
    newer.CustomResourceDefinition,
    __name__,
    spec=f.Struct("CustomResourceDefinitionSpec", 2, required=True, doc="What is wished for."),
)
CustomResourceDefinitionList = list_alias(newer.CustomResourceDefinitionList, __name__)
