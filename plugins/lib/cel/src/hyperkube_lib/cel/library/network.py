"""Addresses, networks and URLs.

Source: kubernetes apiserver ``pkg/cel/library/ip.go``, ``cidr.go``, ``urls.go``.
"""

from __future__ import annotations

import ipaddress
from typing import Any, TypeAlias
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit
from urllib.parse import quote as escape

from hyperkube_lib.cel.errors import EvaluationError
from hyperkube_lib.cel.functions import Library
from hyperkube_lib.cel.values import Opaque

from hyperkube.machinery.field import quote

NETWORK = Library()
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


class IpValue(Opaque):
    """An address."""

    __slots__ = ("address",)
    kind = "net.IP"

    def __init__(self, address: _Address) -> None:
        self.address = address

    def same(self, other: Any) -> bool:
        """Tell whether two are the same address."""
        return bool(self.address == other.address)


class CidrValue(Opaque):
    """A network, with the address it was written with."""

    __slots__ = ("address", "network")
    kind = "net.CIDR"

    def __init__(self, address: _Address, network: _Network) -> None:
        self.address = address
        self.network = network

    def same(self, other: Any) -> bool:
        """Tell whether two are written alike."""
        return bool(self.address == other.address and self.network == other.network)

    def __str__(self) -> str:
        return f"{self.address}/{self.network.prefixlen}"


def _address(text: str) -> _Address:
    if "%" in text:
        raise EvaluationError(f"IP address with zone value is not allowed: ParseAddr({quote(text)})")
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise EvaluationError(f"ParseAddr({quote(text)}): unable to parse IP") from None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f"IPv4-mapped IPv6 address is not allowed: {quote(text)}")
    return address


@NETWORK.function("isIP", "string -> bool")
def is_ip(text: str) -> bool:
    """Tell whether a text is an address."""
    try:
        _address(text)
    except EvaluationError:
        return False
    return True


@NETWORK.function("ip", "string -> IP")
def ip(text: str) -> IpValue:
    """Read an address."""
    try:
        return IpValue(_address(text))
    except EvaluationError as error:
        raise EvaluationError(f"IP Address {quote(text)} parse error during conversion from string: {error}") from None


@NETWORK.function("ip.isCanonical", "string -> bool")
def is_canonical(text: str) -> bool:
    """Tell whether an address is written in its one canonical form."""
    return str(ip(text).address) == text


@NETWORK.method("family", "IP -> int")
def family(value: IpValue) -> int:
    """Return 4 or 6."""
    return value.address.version


for _name, _test in {
    "isUnspecified": "is_unspecified",
    "isLoopback": "is_loopback",
    "isLinkLocalMulticast": "",
    "isLinkLocalUnicast": "is_link_local",
    "isGlobalUnicast": "",
}.items():
    if _test:
        NETWORK.method(_name, "IP -> bool")(lambda value, test=_test: bool(getattr(value.address, test)))


@NETWORK.method("isLinkLocalMulticast", "IP -> bool")
def is_link_local_multicast(value: IpValue) -> bool:
    """Tell whether this is a multicast address of the link."""
    link = "224.0.0.0/24" if value.address.version == 4 else "ff02::/16"
    return value.address in ipaddress.ip_network(link)


@NETWORK.method("isGlobalUnicast", "IP -> bool")
def is_global_unicast(value: IpValue) -> bool:
    """Tell whether this is none of the special addresses."""
    address = value.address
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and str(address) != "255.255.255.255"


@NETWORK.function("string", "IP -> string")
def ip_text(value: IpValue) -> str:
    """Return an address in its canonical form."""
    return str(value.address)


def _cidr(text: str) -> CidrValue:
    head, slash, prefix = text.partition("/")
    if not slash:
        raise EvaluationError(f"netip.ParsePrefix({quote(text)}): no '/'")
    if not prefix.isdigit() or (len(prefix) > 1 and prefix[0] == "0"):
        raise EvaluationError(f"netip.ParsePrefix({quote(text)}): bad bits after slash: {quote(prefix)}")
    address = _address(head)
    try:
        return CidrValue(address, ipaddress.ip_network(f"{address}/{prefix}", strict=False))
    except ValueError:
        raise EvaluationError(f"netip.ParsePrefix({quote(text)}): prefix length out of range") from None


@NETWORK.function("isCIDR", "string -> bool")
def is_cidr(text: str) -> bool:
    """Tell whether a text is a network."""
    try:
        _cidr(text)
    except EvaluationError:
        return False
    return True


@NETWORK.function("cidr", "string -> CIDR")
def cidr(text: str) -> CidrValue:
    """Read a network."""
    try:
        return _cidr(text)
    except EvaluationError as error:
        text = "network address parse error during conversion from string: "
        raise EvaluationError(f"{text}{text}{error}") from None  # Kubernetes says it twice


@NETWORK.method("containsIP", "CIDR, IP -> bool", "CIDR, string -> bool")
def contains_ip(value: CidrValue, other: IpValue | str) -> bool:
    """Tell whether a network has an address."""
    address = ip(other).address if isinstance(other, str) else other.address
    return address in value.network


@NETWORK.method("containsCIDR", "CIDR, CIDR -> bool", "CIDR, string -> bool")
def contains_cidr(value: CidrValue, other: CidrValue | str) -> bool:
    """Tell whether a network has another in it."""
    inner = cidr(other) if isinstance(other, str) else other
    same_family = inner.network.version == value.network.version
    return same_family and inner.network.subnet_of(value.network)  # type: ignore[arg-type]  # of one family


@NETWORK.method("ip", "CIDR -> IP")
def cidr_ip(value: CidrValue) -> IpValue:
    """Return the address a network was written with."""
    return IpValue(value.address)


@NETWORK.method("masked", "CIDR -> CIDR")
def masked(value: CidrValue) -> CidrValue:
    """Return the network with its first address."""
    return CidrValue(value.network.network_address, value.network)


@NETWORK.method("prefixLength", "CIDR -> int")
def prefix_length(value: CidrValue) -> int:
    """Return how many bits are fixed."""
    return value.network.prefixlen


@NETWORK.function("string", "CIDR -> string")
def cidr_text(value: CidrValue) -> str:
    """Return a network as text."""
    return str(value)


class UrlValue(Opaque):
    """A URL."""

    __slots__ = ("parts", "text")
    kind = "kubernetes.URL"

    def __init__(self, text: str, parts: SplitResult) -> None:
        self.text = text
        self.parts = parts

    def same(self, other: Any) -> bool:
        """Tell whether two are written alike."""
        return bool(self.text == other.text)


_CONTROLS = frozenset({*range(0x20), 0x7F})


def url_problem(text: str, why: str = "invalid URI for request") -> str:
    """Return what Go says of a text that is no URL; source: Go ``net/url`` (ParseRequestURI)."""
    if any(ord(character) in _CONTROLS for character in text):
        why = "net/url: invalid control character in URL"
    elif not text:
        why = "empty url"
    elif text.startswith(":"):
        why = "missing protocol scheme"
    return f"parse {quote(text)}: {why}"


def _url(text: str) -> UrlValue:
    wrong = f"URL parse error during conversion from string: {url_problem(text)}"
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018  reading it checks it
    except ValueError:
        raise EvaluationError(wrong) from None
    absolute = bool(parts.scheme) and not text.startswith(":")
    if any(ord(character) in _CONTROLS for character in text) or not (absolute or text.startswith("/")):
        raise EvaluationError(wrong)
    if any(character.isspace() for character in parts.netloc):
        raise EvaluationError(wrong)
    return UrlValue(text, parts)


@NETWORK.function("isURL", "string -> bool")
def is_url(text: str) -> bool:
    """Tell whether a text is an absolute URL or path."""
    try:
        _url(text)
    except EvaluationError:
        return False
    return True


@NETWORK.function("url", "string -> URL")
def url(text: str) -> UrlValue:
    """Read a URL."""
    return _url(text)


@NETWORK.method("getScheme", "URL -> string")
def get_scheme(value: UrlValue) -> str:
    """Return ``https`` and the like, or nothing."""
    return value.parts.scheme


def _host(value: UrlValue) -> str:
    return value.parts.netloc.rpartition("@")[2]


@NETWORK.method("getHost", "URL -> string")
def get_host(value: UrlValue) -> str:
    """Return host and port, an IPv6 address in brackets."""
    return _host(value)


@NETWORK.method("getHostname", "URL -> string")
def get_hostname(value: UrlValue) -> str:
    """Return the host without port and brackets."""
    host = _host(value)
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


@NETWORK.method("getPort", "URL -> string")
def get_port(value: UrlValue) -> str:
    """Return the port, or nothing."""
    return "" if value.parts.port is None else str(value.parts.port)


@NETWORK.method("getEscapedPath", "URL -> string")
def get_escaped_path(value: UrlValue) -> str:
    """Return the path with what needs it percent-encoded."""
    path = value.parts.path
    return path if path == escape(unquote(path), safe="/:@!$&'()*+,;=~") else escape(path, safe="/:@!$&'()*+,;=~%")


@NETWORK.method("getQuery", "URL -> map(string, list(string))")
def get_query(value: UrlValue) -> dict[str, list[str]]:
    """Return the query's parameters."""
    return parse_qs(value.parts.query, keep_blank_values=True)
