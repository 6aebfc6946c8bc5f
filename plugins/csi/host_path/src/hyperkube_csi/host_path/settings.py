"""The driver's name and settings."""

from __future__ import annotations

from hyperkube.machinery.record import Record

NAME = "host-path.csi.hyperkube.dev"


class HostPathSettings(Record):
    """Settings of the driver.

    Attributes:
        dir: where volumes are kept; empty to go without the driver.
        node_id: what it calls this node; empty for the node's name.
        place: what its topology tells of this node; empty for what the node is called, as each has volumes of its own.
        hostname_override: the kubelet's, see there.
    """

    dir: str = ""
    node_id: str = ""
    place: str = ""
    hostname_override: str = ""
