"""How the API server serves NetworkPolicies."""

from __future__ import annotations

from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse
from hyperkube_api.networking.network_policies.strategy import NetworkPolicyStrategy
from hyperkube_api.networking.versions import V1

from hyperkube.hookspecs.api import ResourceSpec


def network_policies() -> ResourceSpec:
    """Return the specification of the resource ``networkpolicies``."""
    return V1.resource(
        "networkpolicies",
        "NetworkPolicy",
        short_names=("netpol",),
        storage_prefix="networkpolicies",
        storage_version_hash="YpfwF18m1G8=",
        strategy=NetworkPolicyStrategy(),
        columns=(NAME, column("Pod-Selector", field="spec.podSelector"), AGE),
        cells=OnFirstUse("hyperkube_api.networking.network_policies.table:network_policy_cells"),
    )
