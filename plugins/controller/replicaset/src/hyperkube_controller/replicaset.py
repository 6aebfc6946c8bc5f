"""replicaset: as many pods of a template as the replica set asks for, no more and no fewer.

How it counts is in `hyperkube_lib.replicas`, how it creates and deletes in `hyperkube_lib.pod_control`.
"""

from __future__ import annotations

from hyperkube_lib.replicas import ReplicasController

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import REPLICA_SETS
from hyperkube.kinds.workloads import label_selector_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin


class Settings(Record):
    """How many replica sets are synced at once."""

    concurrent_replicaset_syncs: int = 5


class Replicaset(Plugin):
    """Keeps each replica set's pods at ``spec.replicas``."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        workers = self.settings(Settings).concurrent_replicaset_syncs
        return ReplicasController(
            self,
            REPLICA_SETS,
            "ReplicaSet",
            component="replicaset-controller",
            selector_of=label_selector_of,
            workers=workers,
            shows_terminating=True,
        )
