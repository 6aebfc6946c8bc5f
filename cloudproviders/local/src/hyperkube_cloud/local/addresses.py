"""Ranges of addresses, and what of them is free."""

from __future__ import annotations

import ipaddress
from collections.abc import Container, Iterable

from hyperkube.machinery.errors import UsageError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressPool:
    """Addresses of some ranges, each ``CIDR``, ``FIRST-LAST`` or a single one.

    Raises:
        UsageError: a range cannot be read.
    """

    def __init__(self, ranges: Iterable[str]) -> None:
        self._texts = tuple(ranges)
        self._ranges = [_range(text) for text in self._texts]

    def __bool__(self) -> bool:
        """Tell whether there is any address."""
        return bool(self._ranges)

    def __str__(self) -> str:
        """Return the ranges as they were given."""
        return ",".join(self._texts)

    def __contains__(self, text: str) -> bool:
        """Tell whether an address is of one of the ranges."""
        address = ipaddress.ip_address(text)
        return any(
            first.version == address.version and int(first) <= int(address) <= last for first, last in self._ranges
        )

    def free(self, version: int, taken: Container[str]) -> str:
        """Return the first address of a family that is not taken; empty if there is none."""
        for first, last in self._ranges:
            if first.version == version:
                for number in range(int(first), last + 1):
                    address = str(type(first)(number))
                    if address not in taken:
                        return address
        return ""


def _range(text: str) -> tuple[Address, int]:
    """Return the first address and the number of the last."""
    first_text, dash, last_text = text.partition("-")
    try:
        if not dash:
            return _inside(ipaddress.ip_network(text.strip()))
        first, last = ipaddress.ip_address(first_text.strip()), ipaddress.ip_address(last_text.strip())
    except ValueError as error:
        raise UsageError(f"invalid range {text!r}: {error} (expected CIDR or FIRST-LAST)") from error
    if first.version != last.version or int(first) > int(last):
        raise UsageError(f"invalid range {text!r}: the last address comes before the first")
    return first, int(last)


def _inside(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> tuple[Address, int]:
    """Return a network's addresses without its own and, where it has one, that of broadcasts."""
    inner = int(network.num_addresses > 2)
    return network.network_address + inner, int(network.broadcast_address) - (inner if network.version == 4 else 0)
