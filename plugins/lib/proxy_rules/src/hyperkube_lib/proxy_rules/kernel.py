"""What the proxiers have in common whose rules are in the kernel and outlive them."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from hyperkube.hookspecs.proxier import IPFamily


@runtime_checkable
class KernelProxier(Protocol):
    """A proxier whose rules translate addresses in the kernel; it implements `hyperkube.hookspecs.proxier.Proxier` too.

    The proxy then also forgets stale tracked connections of UDP, sets the kernel's limits of connection tracking, has
    other proxiers remove what they left on the node, and syncs no more often than its flags say.

    Attributes:
        families: the IP families that this node can serve.
    """

    families: tuple[IPFamily, ...]

    def rules_lost(self) -> bool:
        """Tell whether another program has removed the rules; asked every sync period, and a full sync follows."""


@runtime_checkable
class TidiesLater(Protocol):
    """A proxier that cannot remove at once all that a sync makes needless."""

    def tidy(self) -> float | None:
        """Remove what can be removed by now; return in how many seconds more can be, None if nothing is left.

        Called on the thread that syncs, after each sync and when the time has come.
        """
