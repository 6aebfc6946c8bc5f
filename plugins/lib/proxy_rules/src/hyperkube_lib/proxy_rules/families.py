"""IP families of addresses and ranges."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterable

from hyperkube.hookspecs.proxier import IPFamily

FAMILIES: tuple[IPFamily, IPFamily] = ("IPv4", "IPv6")
_VERSIONS = {"IPv4": ipaddress.IPv4Address, "IPv6": ipaddress.IPv6Address}
_log = logging.getLogger("hyperkube.proxy")


def family_of(text: str) -> IPFamily:
    """Return the family of an address or range."""
    return "IPv6" if ":" in text else "IPv4"


def of_family(texts: Iterable[str], family: IPFamily) -> tuple[str, ...]:
    """Return the addresses or ranges of one family."""
    return tuple(text for text in texts if family_of(text) == family)


def addresses_of(texts: Iterable[str], family: IPFamily) -> tuple[str, ...]:
    """Return the valid addresses of one family, each once and in the form that the kernel's tables know it by.

    The API takes ``fd00:0::1`` for ``fd00::1``. Two Services that write one address differently would be two entries of
    a table for one key: the kernel refuses them, and all others of that transaction.
    """
    found: dict[str, None] = {}
    for text in of_family(texts, family):
        try:
            found[_VERSIONS[family](text).compressed] = None
        except ValueError:
            _log.warning("skipping invalid address %r", text)
    return tuple(found)
