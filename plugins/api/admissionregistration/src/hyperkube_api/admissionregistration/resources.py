"""The admissionregistration group: webhooks and policies that have a say in writes."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.admissionregistration import tables
from hyperkube_api.admissionregistration.strategies import (
    MutatingAdmissionPolicyBindingStrategy,
    MutatingAdmissionPolicyStrategy,
    MutatingWebhookConfigurationStrategy,
    ValidatingAdmissionPolicyBindingStrategy,
    ValidatingAdmissionPolicyStrategy,
    ValidatingWebhookConfigurationStrategy,
)
from hyperkube_api.meta.specs import Version, columns

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.plugin import Plugin

V1 = Version("admissionregistration.k8s.io", "v1", "hyperkube_api.admissionregistration.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "mutatingadmissionpolicies",
            "MutatingAdmissionPolicy",
            namespaced=False,
            categories=("api-extensions",),
            storage_prefix="mutatingadmissionpolicies",
            storage_version_hash="LYmCf+UMVdg=",
            storage_kind=GroupVersionKind("admissionregistration.k8s.io", "v1beta1", "MutatingAdmissionPolicy"),
            strategy=MutatingAdmissionPolicyStrategy(),
            columns=columns(
                "Mutations:integer -- Mutation indicates the number of mutations rules defined in this configuration",
                "ParamKind -- ParamKind specifies the kind of resources used to parameterize this policy",
                "Age",
            ),
            cells=tables.mutating_admission_policy,
        ),
        V1.resource(
            "mutatingadmissionpolicybindings",
            "MutatingAdmissionPolicyBinding",
            namespaced=False,
            categories=("api-extensions",),
            storage_prefix="mutatingadmissionpolicybindings",
            storage_version_hash="90V5FRZZ3Zg=",
            storage_kind=GroupVersionKind("admissionregistration.k8s.io", "v1beta1", "MutatingAdmissionPolicyBinding"),
            strategy=MutatingAdmissionPolicyBindingStrategy(),
            columns=columns(
                "PolicyName -- PolicyName indicates the policy definition which the policy binding binded to",
                "ParamRef -- ParamRef indicates the param resource which sets the configuration param",
                "Age",
            ),
            cells=tables.mutating_admission_policy_binding,
        ),
        V1.resource(
            "mutatingwebhookconfigurations",
            "MutatingWebhookConfiguration",
            namespaced=False,
            categories=("api-extensions",),
            storage_prefix="mutatingwebhookconfigurations",
            storage_version_hash="Sqi0GUgDaX0=",
            strategy=MutatingWebhookConfigurationStrategy(),
            columns=columns(
                "Webhooks:integer -- Webhooks indicates the number of webhooks registered in this configuration", "Age"
            ),
            cells=tables.mutating_webhook_configuration,
        ),
        V1.resource(
            "validatingadmissionpolicies",
            "ValidatingAdmissionPolicy",
            namespaced=False,
            categories=("api-extensions",),
            storage_prefix="validatingadmissionpolicies",
            storage_version_hash="6OxvlMmQ6is=",
            strategy=ValidatingAdmissionPolicyStrategy(),
            columns=columns(
                "Validations:integer -- Validations indicates the number of validation rules defined in this "
                "configuration",
                "ParamKind -- ParamKind specifies the kind of resources used to parameterize this policy",
                "Age",
            ),
            cells=tables.validating_admission_policy,
            subresources=(V1.status("ValidatingAdmissionPolicy"),),
        ),
        V1.resource(
            "validatingadmissionpolicybindings",
            "ValidatingAdmissionPolicyBinding",
            namespaced=False,
            categories=("api-extensions",),
            storage_prefix="validatingadmissionpolicybindings",
            storage_version_hash="v9715VZqakg=",
            strategy=ValidatingAdmissionPolicyBindingStrategy(),
            columns=columns(
                "PolicyName -- PolicyName indicates the policy definition which the policy binding binded to",
                "ParamRef -- ParamRef indicates the param resource which sets the configuration param",
                "Age",
            ),
            cells=tables.validating_admission_policy_binding,
        ),
        V1.resource(
            "validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration",
            namespaced=False,
            categories=("api-extensions",),
            storage_prefix="validatingwebhookconfigurations",
            storage_version_hash="B0wHjQmsGNk=",
            strategy=ValidatingWebhookConfigurationStrategy(),
            columns=columns(
                "Webhooks:integer -- Webhooks indicates the number of webhooks registered in this configuration", "Age"
            ),
            cells=tables.validating_webhook_configuration,
        ),
    )


class AdmissionregistrationApi(Plugin):
    """The admissionregistration group: webhooks and policies that have a say in writes."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve admissionregistration.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="admissionregistration.k8s.io",
                version="v1",
                resources=_v1(),
                group_priority=16_700,
                version_priority=15,
            ),
        ]
