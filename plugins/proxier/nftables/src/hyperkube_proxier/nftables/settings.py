"""What the proxier is configured with."""

from __future__ import annotations

from hyperkube_lib.proxy_rules.local_detector import LocalDetectorSettings
from hyperkube_lib.proxy_rules.node_port_addresses import PRIMARY

from hyperkube.machinery.errors import UsageError

_MOST_BITS = 32


class NftablesSettings(LocalDetectorSettings):
    """See ``kube-proxy --help``.

    Attributes:
        nodeport_addresses: ranges, or the word `primary`; kube-proxy has that unless another is given.
        masquerade_bit: the bit of a packet's mark that asks for masquerading; only the configuration file has it.
    """

    nodeport_addresses: tuple[str, ...] = (PRIMARY,)
    masquerade_all: bool = False
    masquerade_bit: int = 14

    @property
    def mark(self) -> int:
        """The mark of packets to be masqueraded."""
        return 1 << self.masquerade_bit

    def check(self) -> None:
        """Refuse what cannot be.

        Raises:
            UsageError: see above.
        """
        super().check()
        if not 0 <= self.masquerade_bit < _MOST_BITS:
            raise UsageError(f"nftables.masqueradeBit: {self.masquerade_bit} is not within the range [0, 31]")
