"""admissionregistration.k8s.io/v1beta1: webhooks, which have milder defaults.

Source: kubernetes v1.21 pkg/apis/admissionregistration/v1beta1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.admissionregistration.resources import AdmissionregistrationApi
from hyperkube_api.meta.older_versions import Differences, Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

_GROUP = "admissionregistration.k8s.io"
_V1BETA1 = OlderVersion(
    version=Version(_GROUP, "v1beta1", "hyperkube_api.legacy_access.schemas.admissionregistration_v1beta1"),
    lifecycle=Lifecycle(16, 22, f"{_GROUP}/v1"),
)
_RESOURCES = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")


def default_webhooks(configuration: Object) -> None:
    """Fill in the defaults of v1beta1: failures are ignored, the timeout is long, and reviews are v1beta1."""
    for webhook in configuration.get("webhooks") or ():
        for name, value in (
            ("failurePolicy", "Ignore"),
            ("matchPolicy", "Exact"),
            ("sideEffects", "Unknown"),
            ("timeoutSeconds", 30),
        ):
            if webhook.get(name) is None:
                webhook[name] = value
        if not webhook.get("admissionReviewVersions"):
            webhook["admissionReviewVersions"] = ["v1beta1"]


def is_error(error: FieldError) -> bool:
    """Return whether an error applies: v1beta1 allows side effects to be unknown."""
    return not (str(error.path).endswith(".sideEffects") and error.value in _EFFECTS)


class LegacyAdmissionregistrationApi(Plugin):
    """admissionregistration.k8s.io/v1beta1: webhooks, which have milder defaults."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve the webhooks of admissionregistration.k8s.io/v1beta1 where they are asked for."""
        newer = newest_resources(AdmissionregistrationApi, self.context)
        differences = Differences(default=default_webhooks, accept=is_error)
        resources = [_V1BETA1.resource(newer[name], differences) for name in _RESOURCES]
        return [_V1BETA1.group_version(resources, group_priority=16_700, version_priority=12)]
