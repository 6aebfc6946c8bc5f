"""What the proxier is configured with."""

from __future__ import annotations

from hyperkube.machinery.record import Record


class UserspaceSettings(Record):
    """See ``kube-proxy --help``.

    Attributes:
        nodeport_addresses: addresses and ranges that node ports are opened on; none stands for all.
        unprivileged_port_offset: what is added to a port below 1024 that may not be bound; 0 leaves it unserved.
        proxy_port_range: ``low-high``, the ports of this machine that portals lead to; ``0-0`` for any.
        udp_timeout: seconds after which a silent UDP client is forgotten.
    """

    nodeport_addresses: tuple[str, ...] = ()
    unprivileged_port_offset: int = 10_000
    proxy_port_range: str = "0-0"
    udp_timeout: float = 10.0

    @property
    def portal_ports(self) -> range:
        """The ports that may be used; 0 alone stands for any that is free."""
        low, high = map(int, self.proxy_port_range.split("-"))
        return range(low, high + 1)
