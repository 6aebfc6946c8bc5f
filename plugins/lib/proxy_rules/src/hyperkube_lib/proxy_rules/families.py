"""IP families of addresses and ranges."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube.hookspecs.proxier import IPFamily

FAMILIES: tuple[IPFamily, IPFamily] = ("IPv4", "IPv6")


def family_of(text: str) -> IPFamily:
    """Return the family of an address or range."""
    return "IPv6" if ":" in text else "IPv4"


def of_family(texts: Iterable[str], family: IPFamily) -> tuple[str, ...]:
    """Return the addresses or ranges of one family."""
    return tuple(text for text in texts if family_of(text) == family)
