"""replicationcontroller: the first of its line, kept for those who never moved to replica sets.

It differs from a replica set by its selector, a plain map of labels that defaults to the template's.
"""

from __future__ import annotations

from hyperkube_lib.replicas import ReplicasController

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import REPLICATION_CONTROLLERS
from hyperkube.machinery.labels import NOTHING, Selector, selector_from_map
from hyperkube.machinery.objects import Object, labels_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin


def selector_of(controller: Object) -> Selector:
    """Return the compiled ``spec.selector``; an empty one selects nothing."""
    spec = controller.get("spec") or {}
    labels = spec.get("selector") or labels_of(spec.get("template") or {})
    return selector_from_map(labels) if labels else NOTHING


class Settings(Record):
    """How many replication controllers are synced at once."""

    concurrent_rc_syncs: int = 5


class Replicationcontroller(Plugin):
    """Keeps each replication controller's pods at ``spec.replicas``."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        workers = self.settings(Settings).concurrent_rc_syncs
        return ReplicasController(
            self,
            REPLICATION_CONTROLLERS,
            "ReplicationController",
            component="replication-controller",
            selector_of=selector_of,
            workers=workers,
        )
