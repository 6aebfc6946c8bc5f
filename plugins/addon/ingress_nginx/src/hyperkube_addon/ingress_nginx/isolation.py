"""Hosts apart from one another: what nginx refuses of one must not stop the changes of all others.

It reads its configuration as a whole. A weak key in one tenant's certificate, or a path of more than 4 KiB, is found by
halves: a handful of trials for one culprit among thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hyperkube_addon.ingress_nginx.routing import Server

Refusal = Callable[[Sequence[Server]], str]
"""Returns why nginx refuses some hosts; nothing if it does not."""


def apart(servers: Sequence[Server], refusal: Refusal) -> tuple[list[Server], dict[str, str]]:
    """Return the hosts without those that nginx refuses, and why it refuses these, by host.

    The host without a name, which answers for all others, stays, without its routes if need be. Where not even that is
    taken, no host is to blame: all are returned.
    """
    bare, refused = Server("", (), None, tls=False, redirect=False), dict[str, str]()
    if refusal([bare]):
        return list(servers), refused
    taken = _taken(servers, refusal, refused)
    return [*taken, *([bare] if "" in refused else [])], refused


def _taken(servers: Sequence[Server], refusal: Refusal, refused: dict[str, str]) -> list[Server]:
    why = refusal(servers)
    if not why:
        return list(servers)
    if len(servers) == 1:
        refused[servers[0].host] = why
        return []
    half = len(servers) // 2
    return [*_taken(servers[:half], refusal, refused), *_taken(servers[half:], refusal, refused)]
