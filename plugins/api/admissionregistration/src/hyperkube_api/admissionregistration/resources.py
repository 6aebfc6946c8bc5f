"""The admissionregistration group: webhooks and policies that change or refuse writes."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.admissionregistration.admission_policies.spec import (
    mutating_admission_policies,
    validating_admission_policies,
)
from hyperkube_api.admissionregistration.admission_policy_bindings import (
    mutating_admission_policy_bindings,
    validating_admission_policy_bindings,
)
from hyperkube_api.admissionregistration.webhook_configurations.spec import (
    mutating_webhook_configurations,
    validating_webhook_configurations,
)

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin


class AdmissionregistrationApi(Plugin):
    """The admissionregistration group: webhooks and policies that change or refuse writes."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve admissionregistration.k8s.io/v1."""
        v1 = (
            mutating_admission_policies(),
            mutating_admission_policy_bindings(),
            mutating_webhook_configurations(),
            validating_admission_policies(),
            validating_admission_policy_bindings(),
            validating_webhook_configurations(),
        )
        return [
            ApiGroupVersion(
                group="admissionregistration.k8s.io",
                version="v1",
                resources=v1,
                group_priority=16_700,
                version_priority=15,
            ),
        ]
