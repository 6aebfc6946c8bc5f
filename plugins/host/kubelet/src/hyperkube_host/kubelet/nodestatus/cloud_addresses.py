"""A node's addresses, as its cloud has them.

Source: kubernetes ``pkg/kubelet/nodestatus/setters.go`` (NodeAddress).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_host.kubelet.options import NodeOptions

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.machinery.objects import Object

HOSTNAME = "Hostname"


def cloud_addresses(cloud: Sequence[Object], options: NodeOptions) -> list[Object]:
    """Return the rows of ``status.addresses``.

    Of the types that the address given with ``--node-ip`` has, only this one stays, and comes first. The node's name is
    added where the cloud has it as an address of another type, or has no addresses, or it was given by flag.

    Raises:
        CloudFailed: the machine has no address that the kubelet was given.
    """
    rows = [dict(row) for row in cloud]
    if options.ips:
        matching = [row for row in rows if row["address"] == options.ips[0]]
        if not matching:
            raise CloudFailed(f"failed to get node address from cloud provider that matches ip: {options.ips[0]}")
        types = {row["type"] for row in matching}
        rows = matching + [row for row in rows if row["type"] not in types]
    hostname = {"type": HOSTNAME, "address": options.hostname}
    has_hostname = any(row["type"] == HOSTNAME for row in cloud)
    if not cloud or (not has_hostname and any(row["address"] == options.hostname for row in cloud)):
        return [*rows, hostname]
    if options.hostname_overridden:
        first = next((index for index, row in enumerate(rows) if row["type"] == HOSTNAME), len(rows))
        rows[first : first + 1] = [hostname]
    return rows
