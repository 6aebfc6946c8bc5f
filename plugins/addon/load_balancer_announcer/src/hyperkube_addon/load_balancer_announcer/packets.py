"""ARP and neighbour discovery on Ethernet, as bytes. Sources: RFC 826, RFC 4861."""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

ETHERTYPE_ARP, ETHERTYPE_IPV6 = 0x0806, 0x86DD
BROADCAST = b"\xff" * 6
_ARP = struct.Struct("!HHBBH6s4s6s4s")
_REQUEST, _REPLY = 1, 2
_ICMPV6, _SOLICITATION, _ADVERTISEMENT = 58, 135, 136
_ROUTER, _SOLICITED, _OVERRIDE = 0x80, 0x40, 0x20
_ALL_NODES = socket.inet_pton(socket.AF_INET6, "ff02::1")
_ETHERNET, _IPV6 = 14, 40


class Question(NamedTuple):
    """A neighbour asks where an address is.

    Attributes:
        address: asked about.
        asker: its own address.
        asker_mac: where it is.
    """

    address: str
    asker: str
    asker_mac: bytes


def question(frame: bytes) -> Question | None:
    """Return what a frame asks, None if it is no question."""
    kind = int.from_bytes(frame[12:14], "big")
    if kind == ETHERTYPE_ARP and len(frame) >= _ETHERNET + _ARP.size:
        hardware, protocol, _, _, operation, mac, asker, _, target = _ARP.unpack_from(frame, _ETHERNET)
        if (hardware, protocol, operation) == (1, 0x0800, _REQUEST):
            return Question(socket.inet_ntop(socket.AF_INET, target), socket.inet_ntop(socket.AF_INET, asker), mac)
    body = _ETHERNET + _IPV6
    if kind == ETHERTYPE_IPV6 and len(frame) >= body + 24 and frame[20] == _ICMPV6 and frame[body] == _SOLICITATION:
        asker = socket.inet_ntop(socket.AF_INET6, frame[22:38])
        return Question(socket.inet_ntop(socket.AF_INET6, frame[body + 8 : body + 24]), asker, frame[6:12])
    return None


def answer(asked: Question, mac: bytes) -> bytes:
    """Return the frame that answers a question: the address is at `mac`."""
    if ":" not in asked.address:
        address, asker = socket.inet_aton(asked.address), socket.inet_aton(asked.asker)
        return _arp(asked.asker_mac, mac, _REPLY, address, asked.asker_mac, asker)
    if asked.asker == "::":  # who looks whether the address is free hears it with everyone else
        return announcement(asked.address, mac)
    receiver = socket.inet_pton(socket.AF_INET6, asked.asker)
    return _advertisement(asked.asker_mac, mac, asked.address, receiver, _SOLICITED | _OVERRIDE)


def announcement(address: str, mac: bytes) -> bytes:
    """Return the frame that tells everyone, unasked, that an address is at `mac` now."""
    if ":" not in address:
        packed = socket.inet_aton(address)
        return _arp(BROADCAST, mac, _REQUEST, packed, bytes(6), packed)
    return _advertisement(b"\x33\x33\x00\x00\x00\x01", mac, address, _ALL_NODES, _OVERRIDE)


def group(address: str) -> bytes:
    """Return the Ethernet address at which questions about an IPv6 address arrive."""
    return b"\x33\x33\xff" + socket.inet_pton(socket.AF_INET6, address)[-3:]


def _arp(receiver: bytes, mac: bytes, operation: int, sender: bytes, target_mac: bytes, target: bytes) -> bytes:
    header = receiver + mac + ETHERTYPE_ARP.to_bytes(2, "big")
    return header + _ARP.pack(1, 0x0800, 6, 4, operation, mac, sender, target_mac, target)


def _advertisement(receiver_mac: bytes, mac: bytes, address: str, receiver: bytes, flags: int) -> bytes:
    packed = socket.inet_pton(socket.AF_INET6, address)
    body = bytes([_ADVERTISEMENT, 0, 0, 0, flags | _ROUTER, 0, 0, 0]) + packed + b"\x02\x01" + mac
    pseudo = packed + receiver + len(body).to_bytes(4, "big") + bytes([0, 0, 0, _ICMPV6])
    body = body[:2] + _checksum(pseudo + body).to_bytes(2, "big") + body[4:]
    header = struct.pack("!IHBB", 0x60000000, len(body), _ICMPV6, 255) + packed + receiver
    return receiver_mac + mac + ETHERTYPE_IPV6.to_bytes(2, "big") + header + body


def _checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
