"""Cloud providers: what the cluster may ask of the place it runs in.

Each capability is a small protocol of its own; a provider offers those it has. Its methods are synchronous, may block
on the network and come from several threads; the hosts space the calls, repeat what failed and stop asking a cloud that
is down (`hyperkube_lib.cloud_provider`), so a provider does none of that itself.

Source: kubernetes ``staging/src/k8s.io/cloud-provider/cloud.go`` and the ``volumes.go`` of the legacy providers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Protocol, runtime_checkable

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import NodeName, Object


class CloudFailed(HyperkubeError):
    """The cloud refused this one thing; it is tried again, and shown as an event."""


class RetryLater(CloudFailed):
    """The cloud is still at work on this one thing, which is to be asked for again in `retry_after` seconds."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class CloudUnavailable(CloudFailed):
    """The cloud cannot be reached, or is out of order: other calls would fail as well."""


class CloudThrottled(CloudUnavailable):
    """The cloud refuses more calls for now; for `retry_after` seconds, if it said so."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class InstanceNotFound(HyperkubeError):
    """The cloud has no such instance (any more)."""


class DiskNotFound(HyperkubeError):
    """The cloud has no such disk (any more)."""


class SnapshotNotFound(HyperkubeError):
    """The cloud has no such snapshot of a disk (any more)."""


class FileShareNotFound(HyperkubeError):
    """The cloud has no such share of files (any more)."""


class DiskAttachedElsewhere(CloudFailed):
    """The disk is attached to another machine, and can be to one only: that of `node`, where it is known."""

    def __init__(self, message: str, node: NodeName | None = None) -> None:
        super().__init__(message)
        self.node = node


class ImplementedElsewhere(HyperkubeError):
    """Something else takes care of it: the caller leaves it alone, without an event."""


class LoadBalancers(Protocol):
    """Load balancers for Services of type LoadBalancer."""

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the balancer's ``status.loadBalancer``, or None if there is none."""

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Create or update the balancer and return its ``status.loadBalancer``; idempotent."""

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Delete the balancer; no error if it is gone already."""


@runtime_checkable
class UpdatesHosts(Protocol):
    """Load balancers that need less than `LoadBalancers.ensure` when only the nodes have changed."""

    def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Send an existing balancer's traffic to these nodes."""


@runtime_checkable
class NamesBalancers(Protocol):
    """Load balancers whose names in the cloud are no secret: they are shown in logs and events."""

    def name(self, cluster: str, service: Object) -> str:
        """Return the name that a Service's balancer has, or would have."""


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
        """Describe the node's machine; `InstanceNotFound` if there is none."""


@runtime_checkable
class CurrentInstance(Protocol):
    """Instances that know, by the cloud's metadata service, on which of them the caller runs: for kubelets."""

    def current_node_name(self, hostname: str) -> NodeName:
        """Return the name that this machine's node is to have."""

    def current_zone(self) -> tuple[str, str]:
        """Return this machine's zone and region."""


@runtime_checkable
class PodRanges(Protocol):
    """Instances to which the cloud gives addresses for pods: for ``--cidr-allocator-type=CloudAllocator``."""

    def pod_ranges(self, node: Object) -> Sequence[str]:
        """Return the ranges of the node's machine, as CIDRs; `InstanceNotFound` if there is none."""


@runtime_checkable
class AddsPodRanges(PodRanges, Protocol):
    """Instances that can be given such addresses: for ``--cidr-allocator-type=IPAMFromCluster``."""

    def add_pod_range(self, node: Object, cidr: str) -> None:
        """Give a machine that has no range this one; no error if it has it, `InstanceNotFound` without a machine."""


@runtime_checkable
class AddsSshKeys(Protocol):
    """Instances that a user's key opens, all of them and those to come: for ``--ssh-user`` of the API server."""

    def add_ssh_key(self, user: str, public_key: str) -> None:
        """Let the holder of a key, ``TYPE BASE64``, in as that user, beside all others; no error if it is so."""


class Clusters(Protocol):
    """The clusters that a provider keeps a list of."""

    def list(self) -> Sequence[str]:
        """Return their names."""

    def master(self, cluster: str) -> str:
        """Return the address of a cluster's API server."""


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
class DiskRequest:
    """A disk to be made.

    Attributes:
        name: of the PersistentVolume; the cloud finds the disk again by it, so a second request makes no second one.
        size: bytes; the cloud may round up.
        zone: where, empty for the provider's choice.
        parameters: those of the StorageClass, lower-case keys.
        tags: what the cloud is to note with the disk: cluster, claim.
        snapshot: the id of what it is to hold from the start; given only to providers whose disks are `SnapshotsDisks`.
    """

    name: str
    size: int
    zone: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    snapshot: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A disk of the cloud: its id as a volume source names it, bytes, and its topology labels."""

    id: str
    size: int
    labels: Mapping[str, str] = field(default_factory=dict)


class Disks(Protocol):
    """Disks that are made, attached and grown; all calls are idempotent."""

    def create(self, request: DiskRequest) -> Disk:
        """Make a disk, or return the one of that name; an unusable parameter is a `CloudFailed`."""

    def delete(self, disk_id: str) -> None:
        """Delete a disk; no error if it is gone. One that is attached is a `CloudFailed`."""

    def resize(self, disk_id: str, size: int) -> int:
        """Make a disk at least `size` bytes large and return its new size."""

    def attach(self, disk_id: str, node: Object, *, read_only: bool = False) -> str:
        """Attach a disk to a node's machine and return the device path that the machine sees.

        Raises:
            DiskNotFound, InstanceNotFound: there is no such disk or machine.
            DiskAttachedElsewhere: another machine has it.
        """

    def detach(self, disk_id: str, node_name: NodeName) -> None:
        """Detach it; no error if it is not attached, or the disk or the machine is gone."""

    def attached(self, disk_ids: Sequence[str], node_name: NodeName) -> Mapping[str, bool]:
        """Tell of each disk whether the node's machine has it; of none if the machine is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskSnapshot:
    """What a disk held at one time.

    Attributes:
        id: the cloud's.
        disk: the id of the disk, empty where the cloud no longer knows it.
        size: bytes that a disk made of it needs at least.
        created: seconds since 1970.
        ready: whether a disk can be made of it.
    """

    id: str
    disk: str
    size: int
    created: float
    ready: bool


@runtime_checkable
class SnapshotsDisks(Protocol):
    """Disks of which snapshots are taken, and that are made of those; all calls are idempotent."""

    def create_snapshot(self, name: str, disk_id: str) -> DiskSnapshot:
        """Begin a snapshot, or return the one of that name, of whichever disk.

        Raises:
            DiskNotFound: there is no such disk, and no snapshot of that name.
        """

    def snapshot(self, snapshot_id: str) -> DiskSnapshot:
        """Return a snapshot.

        Raises:
            SnapshotNotFound: there is none.
        """

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Delete a snapshot; no error if it is gone. Disks that were made of it stay as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileShare:
    """A share of files: its id, bytes, and the data of the Secret by which nodes mount it: nothing shows those."""

    id: str
    size: int
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)


class FileShares(Protocol):
    """Shares of files, which many nodes mount at once; all calls are idempotent."""

    def create(self, request: DiskRequest) -> FileShare:
        """Make a share, or return the one of that name; an unusable parameter is a `CloudFailed`."""

    def delete(self, share_id: str) -> None:
        """Delete a share; no error if it is gone."""

    def resize(self, share_id: str, size: int) -> int:
        """Make a share at least `size` bytes large and return its new size.

        Raises:
            FileShareNotFound: there is none.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """One provider's capabilities; None where it has none."""

    name: str
    load_balancers: LoadBalancers | None = None
    instances: Instances | None = None
    routes: Routes | None = None
    volumes: Volumes | None = None
    disks: Disks | None = None
    file_shares: FileShares | None = None
    clusters: Clusters | None = None
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
