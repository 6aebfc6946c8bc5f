"""The types of admissionregistration.k8s.io/v1beta1: as they are today, under their old name."""

from hyperkube_api.admissionregistration import v1 as newer
from hyperkube_api.meta.again import again, listed

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="admissionregistration.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.admissionregistration.v1beta1",
    openapi="io.k8s.api.admissionregistration.v1beta1",
)

MutatingWebhookConfiguration = again(newer.MutatingWebhookConfiguration, __name__)
MutatingWebhookConfigurationList = listed(newer.MutatingWebhookConfigurationList, __name__)
ValidatingWebhookConfiguration = again(newer.ValidatingWebhookConfiguration, __name__)
ValidatingWebhookConfigurationList = listed(newer.ValidatingWebhookConfigurationList, __name__)
