"""A bench for controllers: a fake API server, a fake clock, and no threads but those that write events.

Put objects in, call `ControllerRig.settle`, look at what the controllers made of it. The mutation detector is on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

from hyperkube.client.events import EventRecorder
from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs import controller as specs
from hyperkube.hookspecs.base import Plugin, PluginContext
from hyperkube.hookspecs.controller import Controller, ControllerHooks
from hyperkube.machinery.clock import FakeClock
from hyperkube.plugin.loader import PluginHost

_MOMENT = 0.05


@runtime_checkable
class Drainable(Controller, Protocol):
    """A controller that can be driven without threads."""

    def drain(self) -> int:
        """Do what is to be done now; return how many keys were looked at."""


class ControllerRig:
    """Builds controller plugins on a fake world and brings them to rest step by step."""

    def __init__(self, *plugins: type[Plugin], settings: Mapping[str, Any] | None = None) -> None:
        self.clock = FakeClock()
        self.client = FakeClient(self.clock)
        self.informers = InformerFactory(self.client, self.clock, detect_mutations=True)
        self.plugins: list[Plugin] = []
        self.controllers: list[Drainable] = []
        for plugin in plugins:
            context = PluginContext(
                name=plugin.__name__.lower(),
                clock=self.clock,
                client=self.client,
                informers=self.informers,
                settings=settings or {},
            )
            built = plugin(context)
            self.plugins.append(built)
            host: PluginHost[ControllerHooks] = PluginHost("controller", specs, [(context.name, built)])
            (controller,) = host.hook.controller_build()
            assert isinstance(controller, Drainable), f"{plugin.__name__} is not driven by queues"
            self.controllers.append(controller)

    def settle(self, rounds: int = 200) -> None:
        """Let caches and controllers catch up with each other until nothing changes any more.

        The clock moves by 50 ms when all is quiet, for what a controller has put off for a moment.

        Raises:
            RuntimeError: they do not come to rest.
            CacheMutated: a controller changed a cached object in place.
        """
        quiet = 0
        for _ in range(rounds):
            before = len(self.client.journal)
            self.informers.refresh()
            worked = sum(controller.drain() for controller in self.controllers)
            self.wait_for_events()
            if worked or len(self.client.journal) != before:
                quiet = 0
                continue
            quiet += 1
            if quiet > 1:
                self.informers.check_mutations()
                return
            self.clock.advance(_MOMENT)
        raise RuntimeError(f"controllers did not come to rest, last changes: {self.client.actions[-5:]}")

    def wait_for_events(self) -> None:
        """Wait until the plugins' events are written: a recorder has a thread of its own for them."""
        for recorder in self._recorders():
            recorder.flush()

    def _recorders(self) -> Iterator[EventRecorder]:
        """Find the recorders of plugins, controllers, and of the objects of plugins' packages that they call."""
        seen: set[int] = set()
        parts: list[object] = [*self.plugins, *self.controllers]
        own = {id(part) for part in parts}  # of whatever module: tests have plugins of their own
        while parts:
            part = parts.pop()
            if isinstance(part, EventRecorder):
                yield part
            elif id(part) not in seen and (id(part) in own or type(part).__module__.startswith("hyperkube_")):
                seen.add(id(part))
                parts += [getattr(value, "__self__", value) for value in getattr(part, "__dict__", {}).values()]

    def advance(self, seconds: float) -> None:
        """Let time pass, then settle."""
        self.clock.advance(seconds)
        self.settle()
