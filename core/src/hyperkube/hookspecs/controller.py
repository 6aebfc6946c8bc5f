"""Controllers: loops that move what is towards what is wanted.

The controller manager runs each with its own identity (the service account
``system:serviceaccount:kube-system:NAME-controller``) and shared informers: on its own thread, or without one if it is
a `RestingController`.
"""

from __future__ import annotations

from typing import Protocol

from hyperkube.hookspecs import hookspec


class Controller(Protocol):
    """A loop the manager starts and stops."""

    def run(self) -> None:
        """Work until `stop`; called once on a thread of the controller's own, after its informers have synced."""

    def stop(self) -> None:
        """Make `run` return within a second; idempotent, from any thread."""


class RestingController(Controller, Protocol):
    """A loop that needs no thread while it has nothing to do: begun in place of `run`."""

    def begin(self) -> None:
        """Work from now on until `stop`; returns at once. Called once, after its informers have synced."""

    def wait_ended(self, seconds: float | None = None) -> bool:
        """Wait at most so many of the machine's seconds until what `stop` ended has ended; tell whether it has."""


@hookspec
def controller_build() -> Controller:
    """Build the controller: subscribe to informers, create queues, start nothing.

    Called: once, when this process may act (alone, or as elected leader), on the manager's thread; the informers are
        started after all controllers were built.
    Must: keep every decision pure (`decide(observed) -> actions`), act through the plugin's own client, use only the
        context's clock; survive conflicts and lost watches; do nothing when the world is as wanted.
    """


class ControllerHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def controller_build(self) -> list[Controller]:
        """Call `controller_build` of all plugins."""
