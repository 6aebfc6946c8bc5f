"""What strategies and handlers of API groups get of the server that they serve in: its settings and its services."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from typing import Protocol, TypeAlias

from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record

Network: TypeAlias = IPv4Network | IPv6Network


class TokenSigner(Protocol):
    """Issues the tokens of service accounts."""

    def issue(
        self,
        *,
        namespace: str,
        account: Object,
        audiences: tuple[str, ...],
        seconds: int,
        bound: Object | None = None,
        node: Object | None = None,
    ) -> tuple[str, datetime]:
        """Return the token, and when it expires, for an account and what it is bound to."""


class ApiServices(Record):
    """The server's settings that single resources depend on, and its services that their handlers use.

    Attributes:
        allow_privileged: whether containers may be privileged.
        service_networks: where the cluster IPs of Services come from: one range, or one of each family, the default
            one first.
        node_ports: the lowest and the highest port for Services of type NodePort.
        event_seconds: how long events are kept.
        service_account_issuers: who the server's tokens are from; new ones are from the first.
        api_audiences: whom tokens must be meant for; its issuers unless any is given.
        token_signer: None for a server without a signing key.
        authenticate: asks the server's authenticators, as for a request's credentials; None for a server without any.
        component_health: tells whether a component works, and what it says.
    """

    allow_privileged: bool = True
    service_networks: tuple[Network, ...] = (IPv4Network("10.0.0.0/24"),)
    node_ports: tuple[int, int] = (30000, 32767)
    event_seconds: int = 3600
    service_account_issuers: tuple[str, ...] = ()
    api_audiences: tuple[str, ...] = ()
    token_signer: TokenSigner | None = None
    authenticate: Callable[[Credentials], Authenticated | None] | None = None
    component_health: Callable[[str], tuple[bool, str]] | None = None

    @property
    def audiences(self) -> tuple[str, ...]:
        """The audiences of the server itself."""
        return self.api_audiences or self.service_account_issuers
