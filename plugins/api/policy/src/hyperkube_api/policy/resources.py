"""The policy group: how many pods may be missing at once."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, Version
from hyperkube_api.policy.strategy import PodDisruptionBudgetStrategy

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("policy", "v1", "hyperkube_api.policy.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "poddisruptionbudgets",
            "PodDisruptionBudget",
            short_names=("pdb",),
            storage_prefix="poddisruptionbudgets",
            storage_version_hash="EVWiDmWqyJw=",
            strategy=PodDisruptionBudgetStrategy(),
            columns=(
                NAME,
                column("Min Available", description="The minimum number of pods that must be available."),
                column("Max Unavailable", description="The maximum number of pods that may be unavailable."),
                column(
                    "Allowed Disruptions",
                    type="integer",
                    description="Calculated number of pods that may be disrupted at this time.",
                ),
                AGE,
            ),
            cells=OnFirstUse("hyperkube_api.policy.table:pod_disruption_budget_cells"),
            subresources=(V1.status("PodDisruptionBudget"),),
        ),
    )


class PolicyApi(Plugin):
    """The policy group: how many pods may be missing at once."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve policy/v1."""
        return [
            ApiGroupVersion(group="policy", version="v1", resources=_v1(), group_priority=17_100, version_priority=15),
        ]
