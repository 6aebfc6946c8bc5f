"""Pod security policies: a beta of Kubernetes 1.3 to 1.24.

Served only when ``--runtime-config=policy/v1beta1/podsecuritypolicies=true`` or ``policy/v1beta1=true`` asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.specs import Version, columns
from hyperkube_api.pod_security_policy import tables
from hyperkube_api.pod_security_policy.strategies import PodSecurityPolicyStrategy

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

V1BETA1 = Version("policy", "v1beta1", "hyperkube_api.pod_security_policy.v1beta1")


class PodSecurityPolicyApi(Plugin):
    """The policies that the admission plugin PodSecurityPolicy applies."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve podsecuritypolicies in policy/v1beta1, where they are asked for."""
        policies = V1BETA1.resource(
            "podsecuritypolicies",
            "PodSecurityPolicy",
            namespaced=False,
            short_names=("psp",),
            storage_prefix="podsecuritypolicy",
            storage_version_hash="khBLobUXkqA=",
            strategy=PodSecurityPolicyStrategy(),
            columns=columns("Priv", "Caps", "SELinux", "RunAsUser", "FSGroup", "SupGroup", "ReadOnlyRootFs", "Volumes"),
            cells=tables.pod_security_policy,
        )
        return [
            ApiGroupVersion(
                group="policy",
                version="v1beta1",
                resources=(policies,),
                group_priority=17_100,
                version_priority=9,
                legacy=True,
            )
        ]
