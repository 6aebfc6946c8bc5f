"""DefaultProvider: the usual set; pods go where most is free."""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_lib.scheduling.provider_sets import usual_set

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.scheduling import AlgorithmProvider
from hyperkube.plugin import Plugin

PROVIDER = usual_set("DefaultProvider")


class DefaultProvider(Plugin):
    """Offers the set under its name for ``--algorithm-provider``."""

    @hookimpl
    def scheduling_providers(self) -> Sequence[AlgorithmProvider]:
        """Offer the set, with what the feature gates add."""
        gates = self.context.gates if self.context is not None else {}
        gangs, topology = bool(gates.get("GangScheduling")), bool(gates.get("TopologyAwareWorkloadScheduling"))
        storage = bool(gates.get("StorageCapacityScoring"))
        return [usual_set("DefaultProvider", gangs=gangs, storage=storage, topology=topology)]
