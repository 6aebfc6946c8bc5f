"""Pod security policies: a beta of Kubernetes 1.3 to 1.24.

Served only when ``--runtime-config=policy/v1beta1/podsecuritypolicies=true`` or ``policy/v1beta1=true`` asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.specs import OnFirstUse, Version
from hyperkube_api.pod_security_policy.strategy import PodSecurityPolicyStrategy

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
            columns=(
                NAME,
                column("Priv"),
                column("Caps"),
                column("SELinux"),
                column("RunAsUser"),
                column("FSGroup"),
                column("SupGroup"),
                column("ReadOnlyRootFs"),
                column("Volumes"),
            ),
            cells=OnFirstUse("hyperkube_api.pod_security_policy.table:pod_security_policy_cells"),
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
