"""The formats of schemas that name something in a network: hosts, addresses, mail boxes and URIs, as Go reads them.

Source: k8s.io/kube-openapi ``pkg/validation/strfmt/default.go``, Go ``net/mail`` (ParseAddress), ``net`` (ParseMAC) and
``net/url`` (ParseRequestURI).
"""

from __future__ import annotations

import re
import unicodedata
from ipaddress import AddressValueError, IPv4Address, IPv6Address

_MAC = r"(?i)([0-9a-f]{2})(?:([:-])[0-9a-f]{2})(?:\2[0-9a-f]{2}){4}(?:(?:\2[0-9a-f]{2}){2}|(?:\2[0-9a-f]{2}){14})?"
_DOTTED_MAC = r"(?i)[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?"

_LONGEST_HOST, _LONGEST_LABEL = 255, 63
_HOST = r"[a0](?:-?[a0]{0,62})?|(?:[a0](?:[a0-]{0,61}[a0])?\.)+a{2,63}"
"""A host name of which `_kinds` is left: ``a`` is a letter, ``0`` a digit or a symbol."""

_WORD = r"[^\x00-\x20\x7f()<>\[\]:;@\\,.\"]+"
_QUOTED = r"\"(?:[^\x00-\x08\x0a-\x1f\x7f\"\\]|\\[^\x00-\x08\x0a-\x1f\x7f])+\""
_MAILBOX = rf"(?:{_WORD}(?:\.{_WORD})*|{_QUOTED})@[ \t]*(?:{_WORD}(?:\.{_WORD})*|\[[0-9A-Za-z.:]+\])"
_NAME = rf"(?:{_QUOTED}|[^\x00-\x20\x7f()<>\[\]:;@\\,\"]+)"
_MAIL = rf"[ \t]*(?:{_MAILBOX}|(?:{_NAME}(?:[ \t]+{_NAME})*)?[ \t]*<{_MAILBOX}>)[ \t]*(?:\([^()\\]*\))?[ \t]*"

_PREFIX_BITS = {4: 32, 6: 128}
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_USER = r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*"
_HOST_OF_URI = r"(?:[A-Za-z0-9\-._~!$&'()*+,;=<>\"]|[^\x00-\x7f]|%25|%[89A-Fa-f][0-9A-Fa-f])*"
_PORT = r"(?::[0-9]*)?"


def is_hostname(value: str) -> bool:
    """Tell whether a text is a label with one hyphen at most, or labels of which the last is two letters or more."""
    return (
        len(value.encode("utf-8", "replace")) <= _LONGEST_HOST
        and all(len(label.encode("utf-8", "replace")) <= _LONGEST_LABEL for label in value.split("."))
        and re.fullmatch(_HOST, "".join(map(_kind, value))) is not None
    )


def _kind(character: str) -> str:
    if character in "-.":
        return character
    if character in "0123456789":
        return "0"
    return {"L": "a", "S": "0"}.get(unicodedata.category(character)[0], "_")


def _address(value: str) -> IPv4Address | IPv6Address | None:
    """Read an address without a zone, whose decimal parts may have leading zeros."""
    head, colon, last = value.rpartition(":")
    if "." in last:
        last = ".".join(part.lstrip("0") or part[-1:] for part in last.split("."))
    if "%" in value:
        return None
    try:
        return IPv6Address(f"{head}:{last}") if colon else IPv4Address(last)
    except AddressValueError:
        return None


def is_ipv4(value: str) -> bool:
    """Tell whether a text is an address with dots, be it within an IPv6 address."""
    return "." in value and _address(value) is not None


def is_ipv6(value: str) -> bool:
    """Tell whether a text is an address with colons."""
    return ":" in value and _address(value) is not None


def is_cidr(value: str) -> bool:
    """Tell whether a text is an address, a slash and a number of bits."""
    text, _, bits = value.partition("/")
    address = _address(text)
    if address is None or re.fullmatch("[0-9]{1,7}", bits) is None:
        return False
    return int(bits) <= _PREFIX_BITS[address.version]


def is_mac(value: str) -> bool:
    """Tell whether a text is six, eight or twenty bytes with hyphens or colons, or in twos with dots."""
    return re.fullmatch(_MAC, value) is not None or re.fullmatch(_DOTTED_MAC, value) is not None


def is_email(value: str) -> bool:
    """Tell whether a text is a mail box, with or without a name before it."""
    return re.fullmatch(_MAIL, value) is not None


def is_uri(value: str) -> bool:
    """Tell whether a text is an absolute path, or begins with a scheme."""
    if not value or _CONTROLS.search(value):
        return False
    if value == "*":
        return True
    scheme = _SCHEME.match(value)
    rest = value[scheme.end() :].partition("?")[0] if scheme else value.partition("?")[0]
    if not rest.startswith("/"):
        return scheme is not None
    if scheme and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        if not _is_authority(authority):
            return False
        rest = slash + path
    return _BAD_ESCAPE.search(rest) is None


def _is_authority(text: str) -> bool:
    user, _, host = text.rpartition("@")
    if re.fullmatch(_USER, user) is None or _BAD_ESCAPE.search(user):
        return False
    if host.startswith("["):
        address, bracket, port = host[1:].rpartition("]")
        is_address = is_ipv6(address.partition("%25")[0])
        return bool(bracket) and is_address and re.fullmatch(_PORT, port) is not None
    return re.fullmatch(_HOST_OF_URI + _PORT, host) is not None
