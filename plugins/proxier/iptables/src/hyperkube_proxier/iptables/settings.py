"""What the proxier is configured with."""

from __future__ import annotations

from hyperkube_lib.proxy_rules.local_detector import LocalDetectorSettings

from hyperkube.machinery.errors import UsageError

_MOST_BITS = 32


class IptablesSettings(LocalDetectorSettings):
    """See ``kube-proxy --help``.

    Attributes:
        nodeport_addresses: ranges, or the word `primary`; none stands for every address.
        masquerade_bit: the bit of a packet's mark that asks for masquerading.
        localhost_node_ports: whether node ports are open on IPv4 loopback too.
    """

    nodeport_addresses: tuple[str, ...] = ()
    masquerade_all: bool = False
    masquerade_bit: int = 14
    localhost_node_ports: bool = True
    conntrack_tcp_be_liberal: bool = False

    @property
    def mark(self) -> int:
        """The mark of packets to be masqueraded."""
        return 1 << self.masquerade_bit

    @property
    def detection(self) -> LocalDetectorSettings:
        """What says how local traffic is told."""
        return self

    def check(self) -> None:
        """Refuse what cannot be.

        Raises:
            UsageError: see above.
        """
        super().check()
        if not 0 <= self.masquerade_bit < _MOST_BITS:
            raise UsageError(f"--iptables-masquerade-bit={self.masquerade_bit} is not within the range [0, 31]")
