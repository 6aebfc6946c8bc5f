"""The coordination group: who holds what, and until when."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.coordination.strategy import LeaseStrategy
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("coordination.k8s.io", "v1", "hyperkube_api.coordination.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "leases",
            "Lease",
            storage_prefix="leases",
            storage_version_hash="gqkMMb/YqFM=",
            strategy=LeaseStrategy(),
            columns=(NAME, column("Holder", field="spec.holderIdentity"), AGE),
            cells=OnFirstUse("hyperkube_api.coordination.table:lease_cells"),
        ),
    )


class CoordinationApi(Plugin):
    """The coordination group: who holds what, and until when."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve coordination.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="coordination.k8s.io", version="v1", resources=_v1(), group_priority=16_500, version_priority=15
            ),
        ]
