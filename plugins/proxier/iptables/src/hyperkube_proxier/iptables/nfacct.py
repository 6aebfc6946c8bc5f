"""Counters of packets in the kernel (nfacct), where it has them; rules name the counter they add to.

Source of the numbers: Linux ``include/uapi/linux/netfilter/nfnetlink_acct.h``; kubernetes ``pkg/util/nfacct``.
"""

from __future__ import annotations

from hyperkube_lib.proxy_rules.netlink import ACK, CREATE, ask_netfilter, attribute, attributes

_NEW, _GET = 0x0700, 0x0701
_NAME, _PACKETS = 1, 2


def ensure_counter(name: str) -> bool:
    """Make a counter unless it is there; tell whether it is there now."""
    try:
        list(ask_netfilter(_NEW, ACK | CREATE, 0, _named(name)))
    except FileExistsError:
        return True
    except OSError:
        return False
    return True


def packets(name: str) -> int:
    """Return what a counter counted; 0 if there is none of the name."""
    try:
        (answer,) = ask_netfilter(_GET, 0, 0, _named(name))
    except (OSError, ValueError):
        return 0
    return int.from_bytes(attributes(answer).get(_PACKETS, b""), "big")


def _named(name: str) -> bytes:
    return attribute(_NAME, name.encode() + b"\0")
