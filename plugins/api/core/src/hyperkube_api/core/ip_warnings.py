"""Addresses and ranges that programs read differently, or that are written in another way than most.

Source: kubernetes apimachinery pkg/util/validation/ip.go (GetWarningsForIP, GetWarningsForCIDR); the words of v1.36.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

from hyperkube.machinery.field import Path, quote

_V4_BITS, _V6_BITS = 32, 128
_MAPPED_BITS = _V6_BITS - _V4_BITS
_V4 = re.compile(r"[0-9]+(\.[0-9]+){3}", re.ASCII)


def ip_warnings(path: Path, text: str) -> list[str]:
    """Return the warning for an address with leading zeros, of IPv4 within IPv6, or of IPv6 in another spelling."""
    address = _read(text)
    if address is None:
        return []
    plain = _plain(address)
    if isinstance(plain, IPv4Address):
        if str(plain) == text:
            return []
        return [f"{path}: non-standard IP address {quote(text)} is invalid: use {quote(str(plain))}"]
    if str(plain) == text:
        return []
    return [f"{path}: IPv6 address {quote(text)} should be in RFC 5952 canonical format ({quote(str(plain))})"]


def cidr_warnings(path: Path, text: str) -> list[str]:
    """Return the warnings for a range with bits beyond its prefix, or that is written as no other program would."""
    front, _, length = text.partition("/")
    address = _read(front)
    if address is None or not (length.isascii() and length.isdecimal()) or int(length) > address.max_prefixlen:
        return []
    plain, network = _plain(address), _network(address, int(length))
    found: list[str] = []
    if plain != network.network_address:
        single = f"{plain}/{address.max_prefixlen}"
        choice = f"should be {quote(str(network))} or {quote(single)}?"
        found.append(f"{path}: CIDR value {quote(text)} is ambiguous in this context ({choice})")
    is_plain = isinstance(plain, IPv6Address) or str(plain) == front
    if not is_plain or length != str(int(length)):
        found.append(f"{path}: non-standard CIDR value {quote(text)} is invalid: use {quote(str(network))}")
    if found or isinstance(plain, IPv4Address) or f"{plain}/{length}" == text:
        return found
    canonical = f"{plain}/{length}"
    return [f"{path}: IPv6 CIDR value {quote(text)} should be in RFC 5952 canonical format ({quote(canonical)})"]


def _read(text: str) -> IPv4Address | IPv6Address | None:
    """Read an address as Kubernetes used to: octets of IPv4 may begin with zeros."""
    try:
        if _V4.fullmatch(text):
            return IPv4Address(".".join(str(int(octet)) for octet in text.split(".")))
        return IPv6Address(text) if "%" not in text else None
    except ValueError:
        return None


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the address that is meant: the inner one of IPv4 within IPv6."""
    inner = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return inner or address


def _network(address: IPv4Address | IPv6Address, length: int) -> IPv4Network | IPv6Network:
    plain = _plain(address)
    if plain is not address and length >= _MAPPED_BITS:
        return ip_network((str(plain), length - _MAPPED_BITS), strict=False)
    return ip_network((str(address), length), strict=False)
