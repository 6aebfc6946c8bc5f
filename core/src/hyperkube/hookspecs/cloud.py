"""Cloud providers: what the cluster may ask of the place it runs in.

Each capability is a small protocol of its own; a provider offers those it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Protocol

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import NodeName, Object


class InstanceNotFound(HyperkubeError):
    """The cloud has no such instance (any more)."""


class LoadBalancers(Protocol):
    """Load balancers for Services of type LoadBalancer."""

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the balancer's ``status.loadBalancer``, or None if there is none."""

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Create or update the balancer and return its ``status.loadBalancer``; idempotent."""

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Delete the balancer; no error if it is gone already."""


@dataclass(frozen=True, slots=True)
class InstanceMetadata:
    """What a cloud knows of a machine; addresses are ``status.addresses`` rows."""

    provider_id: str
    instance_type: str = ""
    addresses: tuple[Object, ...] = ()
    zone: str = ""
    region: str = ""
    labels: dict[str, str] = field(default_factory=dict)


class Instances(Protocol):
    """The machines behind the nodes."""

    def exists(self, node: Object) -> bool:
        """Tell whether the node's machine exists."""

    def is_shut_down(self, node: Object) -> bool:
        """Tell whether the machine exists but is off."""

    def metadata(self, node: Object) -> InstanceMetadata:
        """Describe the node's machine.

        Raises:
            InstanceNotFound: there is none.
        """


@dataclass(frozen=True, slots=True)
class Route:
    """A route to a node's pods."""

    name: str
    target: NodeName
    destination: str


class Routes(Protocol):
    """Routes between the nodes' pod networks."""

    def list(self, cluster: str) -> Sequence[Route]:
        """Return the routes that exist."""

    def create(self, cluster: str, route: Route) -> None:
        """Create a route."""

    def delete(self, cluster: str, route: Route) -> None:
        """Delete a route; no error if it is gone already."""


class Volumes(Protocol):
    """Disks of the cloud, as persistent volumes name them."""

    def labels(self, volume: Object) -> dict[str, str]:
        """Return the topology labels of a persistent volume's disk, e.g. ``topology.kubernetes.io/zone``.

        Raises:
            HyperkubeError: the disk does not exist, or cannot be asked about.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """One provider's capabilities; None where it has none."""

    name: str
    load_balancers: LoadBalancers | None = None
    instances: Instances | None = None
    routes: Routes | None = None
    volumes: Volumes | None = None
    has_cluster_id: bool = True


@hookspec(firstresult=True)
def cloud_provider() -> Cloud:
    """Return the provider, configured from ``--cloud-config`` (which it lists under ``uses`` in its ``flags.toml``).

    Called: once per host that names it by ``--cloud-provider``.
    Must: make no network call yet; every operation is idempotent and safe to repeat after a crash.
    """


class CloudHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def cloud_provider(self) -> Cloud:
        """Call `cloud_provider` of all plugins until one answers."""
