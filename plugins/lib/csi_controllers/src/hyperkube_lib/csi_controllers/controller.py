"""The frame of a controller that calls drivers: without a driver it watches nothing and does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from hyperkube_lib.csi import CsiCalls, installed_drivers
from hyperkube_lib.csi_controllers.connections import LOOK_AGAIN_SECONDS, Drivers, DriverSettings

from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.machinery.backoff import Backoff
from hyperkube.plugin import Plugin

WORKERS = 10
RETRY = Backoff(initial=1.0, cap=300.0)
"""Flags ``--retry-interval-start`` and ``--retry-interval-max`` of Kubernetes' own."""


class CsiController(Plugin):
    """A controller for all drivers.

    Attributes:
        component: what its events come from.
    """

    component: ClassVar[str]

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            UsageError: ``--csi-endpoint`` is wrong.
        """
        clock = self.context.clock
        self.drivers = Drivers(self.where(), self.own_drivers(), clock)
        self.recorder = EventRecorder(self.client, clock, self.component)
        self.loop = ReconcileLoop(
            self.context.name, self.sync, clock=clock, logger=self.context.logger, workers=WORKERS, backoff=RETRY
        )
        if not self.drivers.are_none:
            self.watch()
        return self.loop

    def where(self) -> DriverSettings:
        """Return the plugin's settings: where drivers are."""
        raise NotImplementedError

    def own_drivers(self) -> Mapping[str, CsiCalls]:
        """Return the drivers that are called within this process."""
        return installed_drivers(self.context)

    def watch(self) -> None:
        """Subscribe to informers."""
        raise NotImplementedError

    def sync(self, key: str) -> float | None:
        """Look at one key; see `hyperkube.client.reconcile.Sync`."""
        raise NotImplementedError

    def look_again(self) -> float | None:
        """Return after how many seconds an object of an unknown driver is looked at again."""
        return LOOK_AGAIN_SECONDS if self.drivers.may_come else None

    def close(self) -> None:
        """Call no driver any more."""
        drivers = getattr(self, "drivers", None)
        if drivers is not None:
            drivers.close()
