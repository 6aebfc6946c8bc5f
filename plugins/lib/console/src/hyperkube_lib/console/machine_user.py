"""Which user of this machine a connection over loopback comes from: the kernel knows whose socket the other end is.

Browsers send a host's cookies to all of its ports, so another user of the machine who has a port of 127.0.0.1 can catch
a cookie. What it is bound to, the user who signed in, no one can catch.
Source: Linux ``include/uapi/linux/inet_diag.h``, ``net/ipv4/inet_diag.c`` (inet_diag_find_one_icsk).
"""

from __future__ import annotations

import socket
import struct

_SOCK_DIAG = 4  # NETLINK_SOCK_DIAG
_BY_FAMILY = 20  # SOCK_DIAG_BY_FAMILY
_REQUEST = 1  # NLM_F_REQUEST
_ESTABLISHED = 1  # of a socket that is closed already no user is known
_ALL_STATES = _NO_COOKIE = 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
_QUESTION = struct.Struct("=BBBxI")
_ENDS = struct.Struct("!HH4s12x4s12x")
_REST = struct.Struct("=III")  # the interface, and the socket's cookie in two halves
_ANSWER = struct.Struct(f"=BBBB{_ENDS.size}x{_REST.size}xIIII")
_SECONDS = 1.0


def user_of(peer: tuple[str, int], own: tuple[str, int]) -> int | None:
    """Return the uid of the process at the other end of a connection over IPv4; None where that cannot be told.

    Args:
        peer: the other end's address and port.
        own: the address and port that it has connected to.
    """
    try:
        ends = _ENDS.pack(peer[1], own[1], socket.inet_aton(peer[0]), socket.inet_aton(own[0]))
        question = _QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, _ALL_STATES)
        body = question + ends + _REST.pack(0, _NO_COOKIE, _NO_COOKIE)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
            kernel.settimeout(_SECONDS)
            kernel.send(_HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _REQUEST, 1, 0) + body)
            answer = kernel.recv(8192)
    except (OSError, AttributeError, struct.error):  # no such address, or no Linux
        return None
    _, kind, _, _, _ = _HEADER.unpack_from(answer)
    if kind != _BY_FAMILY:
        return None  # an error: there is no such connection
    _, state, _, _, _, _, _, uid = _ANSWER.unpack_from(answer, _HEADER.size)
    return int(uid) if state == _ESTABLISHED else None
