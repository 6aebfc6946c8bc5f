"""The types of admissionregistration.k8s.io/v1beta1: as they are today, under their old name."""

from hyperkube_api.admissionregistration import v1 as newer
from hyperkube_api.meta.schema_aliases import alias, list_alias

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="admissionregistration.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.admissionregistration.v1beta1",
    openapi="io.k8s.api.admissionregistration.v1beta1",
)

MutatingWebhookConfiguration = alias(newer.MutatingWebhookConfiguration, __name__)
MutatingWebhookConfigurationList = list_alias(newer.MutatingWebhookConfigurationList, __name__)
ValidatingWebhookConfiguration = alias(newer.ValidatingWebhookConfiguration, __name__)
ValidatingWebhookConfigurationList = list_alias(newer.ValidatingWebhookConfigurationList, __name__)
