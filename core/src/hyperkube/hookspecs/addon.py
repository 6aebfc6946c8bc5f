"""Addons: what a cluster has beyond its servers (DNS, a dashboard, a provisioner).

An addon is installed as objects, or served from within the cluster's process, or both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.objects import Object


@hookspec
def addon_objects() -> Sequence[Object]:
    """Return the objects the addon consists of.

    Called: at start and whenever the addon is switched on, by `hyperkube up`; they are applied server-side with field
        manager ``addon-manager``.
    Must: return complete objects, namespaces first; the same ones for the same settings.
    """


@hookspec
def addon_start() -> None:
    """Start what the addon serves from within the cluster's process (a DNS server on a loopback address).

    Called: once the API is ready, on a thread of the addon's own; `close` of the plugin ends it.
    Must: return when closed; use the context's client, clock and informers only.
    """


@hookspec
def addon_notice() -> str:
    """Return a line for the user: where what the addon serves is to be found.

    Called: by `hyperkube up`, once the cluster is ready and the plugin was started; at most once.
    Returns: a line without a line break, empty for none.
    Must: not block.
    """
    return ""


class AddonHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def addon_objects(self) -> list[Sequence[Object]]:
        """Call `addon_objects` of all plugins."""

    def addon_start(self) -> None:
        """Call `addon_start` of all plugins."""

    def addon_notice(self) -> list[str]:
        """Call `addon_notice` of all plugins."""
