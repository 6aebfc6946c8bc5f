"""Clouds that Kubernetes has, or had, a provider for and we have not: what to do instead, in one line each.

Looked for: a client library that is kept. Those of Rackspace (``pyrax``; ``rackspaceauth``, which speaks its identity
service, silences a process's warnings of TLS where it is imported) and Mesos (``mesos.interface``) are given up, Photon
Platform's is gone, as the last two clouds are.
Source: kubernetes 1.5 ``pkg/cloudprovider/providers/providers.go``; of ``hpe``, which was there for a short time, its
``hpe/hpe.go``.
"""

from __future__ import annotations

from typing import Final

from hyperkube.machinery.errors import UsageError

INSTEAD: Final = {
    "photon": "is no more: VMware has given Photon Platform up, and no client library of it is left",
    "mesos": "is no more: Apache Mesos is retired, and Kubernetes runs on it no longer",
    "hpe": "is no more: it gave balancers addresses of a range, START_IP to END_IP; MetalLB does so without a cloud",
    "rackspace": "has no client library that is kept: its clouds are OpenStack's, use --cloud-provider=openstack",
}
"""Name → what follows it in the message."""


class NoProvider(UsageError):
    """The cloud is known and has no provider: use what the message names."""

    def __init__(self, name: str) -> None:
        super().__init__(f"cloud {name!r} {INSTEAD[name]}")
