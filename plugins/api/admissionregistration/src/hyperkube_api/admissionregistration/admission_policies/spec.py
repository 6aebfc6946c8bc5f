"""How the API server serves admission policies."""

from __future__ import annotations

from hyperkube_api.admissionregistration.admission_policies.strategy import (
    MutatingAdmissionPolicyStrategy,
    ValidatingAdmissionPolicyStrategy,
)
from hyperkube_api.admissionregistration.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec
from hyperkube.machinery.groups import GroupVersionKind


def mutating_admission_policies() -> ResourceSpec:
    """Return the specification of the resource ``mutatingadmissionpolicies``."""
    return V1.resource(
        "mutatingadmissionpolicies",
        "MutatingAdmissionPolicy",
        namespaced=False,
        categories=("api-extensions",),
        storage_prefix="mutatingadmissionpolicies",
        storage_version_hash="LYmCf+UMVdg=",
        storage_kind=GroupVersionKind("admissionregistration.k8s.io", "v1beta1", "MutatingAdmissionPolicy"),
        strategy=MutatingAdmissionPolicyStrategy(),
        columns=(
            NAME,
            column(
                "Mutations",
                type="integer",
                description="Mutation indicates the number of mutations rules defined in this configuration",
            ),
            column(
                "ParamKind", description="ParamKind specifies the kind of resources used to parameterize this policy"
            ),
            AGE,
        ),
        cells=OnFirstUse(
            "hyperkube_api.admissionregistration.admission_policies.table:mutating_admission_policy_cells"
        ),
    )


def validating_admission_policies() -> ResourceSpec:
    """Return the specification of the resource ``validatingadmissionpolicies``."""
    return V1.resource(
        "validatingadmissionpolicies",
        "ValidatingAdmissionPolicy",
        namespaced=False,
        categories=("api-extensions",),
        storage_prefix="validatingadmissionpolicies",
        storage_version_hash="6OxvlMmQ6is=",
        strategy=ValidatingAdmissionPolicyStrategy(),
        columns=(
            NAME,
            column(
                "Validations",
                type="integer",
                description="Validations indicates the number of validation rules defined in this configuration",
            ),
            column(
                "ParamKind", description="ParamKind specifies the kind of resources used to parameterize this policy"
            ),
            AGE,
        ),
        cells=OnFirstUse(
            "hyperkube_api.admissionregistration.admission_policies.table:validating_admission_policy_cells"
        ),
        subresources=(V1.status("ValidatingAdmissionPolicy"),),
    )
