"""fake: a cloud that exists in memory only, for trying out what clouds do and for testing what talks to them.

Every node that reported addresses has a running machine, a balancer's address is made from its Service's uid and so is
the same after a restart; routes and disks last as long as the process.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import (
    Cloud,
    CloudFailed,
    Disk,
    DiskAttachedElsewhere,
    DiskNotFound,
    DiskRequest,
    DiskSnapshot,
    InstanceMetadata,
    InstanceNotFound,
    Route,
    SnapshotNotFound,
)
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import NodeName, Object, name_of, uid_of
from hyperkube.plugin import Plugin

PROVIDER = "fake"
GONE_LABEL = "fake.cloud/gone"
"""A node with this label has lost its machine."""
OFF_LABEL = "fake.cloud/off"
"""The machine of a node with this label is shut down."""
ZONE, REGION = "fake-zone", "fake-region"
BALANCER_NETWORK = "198.18"
"""Where balancers live: a range that is set aside for trials (RFC 2544)."""


class FakeThings:
    """What the cloud keeps of balancers, by kind and name; each call is one, and its caller may be gone after any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._things: dict[tuple[str, str], Object] = {}

    def get(self, kind: str, name: str) -> Object | None:
        """Return a thing, None if there is none."""
        with self._lock:
            return self._things.get((kind, name))

    def put(self, kind: str, name: str, thing: Object) -> None:
        """Make a thing, or replace it."""
        with self._lock:
            self._things[kind, name] = thing

    def delete(self, kind: str, name: str) -> None:
        """Delete a thing; no error if it is gone."""
        with self._lock:
            self._things.pop((kind, name), None)


class FakeLoadBalancers:
    """Balancers that forward nothing; implements `hyperkube.hookspecs.cloud.LoadBalancers`.

    Each has an address of its own, reserved before and given back after it.
    """

    def __init__(self, things: FakeThings) -> None:
        self._things = things

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the balancer's status if it was made here, or the Service says that it has it."""
        status = _status(service)
        claimed: Object = (service.get("status") or {}).get("loadBalancer") or {}
        known = self._things.get("balancer", self.name(cluster, service)) is not None
        return status if known or claimed == status else None

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Make the balancer as the Service wants it, and return its status."""
        status = _status(service)
        self._put("address", self.name(cluster, service), status["ingress"][0])
        self.update(cluster, service, nodes)
        return status

    def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Note the nodes; no traffic goes to them."""
        ports = [row["port"] for row in (service.get("spec") or {}).get("ports") or ()]
        balancer = {"ports": ports, "hosts": [name_of(node) for node in nodes]}
        self._put("balancer", self.name(cluster, service), balancer)

    def name(self, cluster: str, service: Object) -> str:
        """Return the name that Kubernetes' providers give a balancer by default."""
        return f"a{uid_of(service).replace('-', '')}"[:32]

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Forget the balancer, and its address."""
        for kind in ("balancer", "address"):
            self._things.delete(kind, self.name(cluster, service))

    def _put(self, kind: str, name: str, thing: Object) -> None:
        if self._things.get(kind, name) != thing:
            self._things.put(kind, name, thing)


def _status(service: Object) -> Object:
    digest = hashlib.sha256(uid_of(service).encode()).digest()
    return {"ingress": [{"ip": f"{BALANCER_NETWORK}.{digest[0]}.{1 + digest[1] % 254}"}]}


class FakeInstances:
    """A machine behind each node; implements `hyperkube.hookspecs.cloud.Instances` and `AddsSshKeys` there.

    Attributes:
        ssh_keys: lines ``USER:TYPE BASE64``; no machine is there that they would open.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.ssh_keys: tuple[str, ...] = ()

    def add_ssh_key(self, user: str, public_key: str) -> None:
        """Note the key."""
        line = f"{user}:{public_key}"
        with self._lock:
            if line not in self.ssh_keys:
                self.ssh_keys += (line,)

    def exists(self, node: Object) -> bool:
        """Tell whether the node has reported from a machine, or was given one here, and has not lost it."""
        known = (node.get("status") or {}).get("addresses") or (node.get("spec") or {}).get("providerID")
        return bool(known) and GONE_LABEL not in _labels(node)

    def is_shut_down(self, node: Object) -> bool:
        """Tell whether the machine is off."""
        return self.exists(node) and OFF_LABEL in _labels(node)

    def metadata(self, node: Object) -> InstanceMetadata:
        """Describe the machine.

        Raises:
            InstanceNotFound: there is none.
        """
        if not self.exists(node):
            raise InstanceNotFound(f"node {name_of(node)!r} has no machine")
        addresses = tuple((node.get("status") or {}).get("addresses") or ())
        return InstanceMetadata(
            provider_id=f"{PROVIDER}://{name_of(node)}",
            instance_type="fake.small",
            addresses=addresses or ({"type": "Hostname", "address": name_of(node)},),
            zone=ZONE,
            region=REGION,
        )


def _labels(node: Object) -> dict[str, str]:
    labels: dict[str, str] = node["metadata"].get("labels") or {}
    return labels


class FakeRoutes:
    """Routes that lead nowhere; implements `hyperkube.hookspecs.cloud.Routes`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._routes: dict[tuple[str, str], Route] = {}

    def list(self, cluster: str) -> Sequence[Route]:
        """Return the cluster's routes."""
        with self._lock:
            return [route for (owner, _), route in self._routes.items() if owner == cluster]

    def create(self, cluster: str, route: Route) -> None:
        """Remember a route."""
        with self._lock:
            self._routes[cluster, route.name] = route

    def delete(self, cluster: str, route: Route) -> None:
        """Forget a route."""
        with self._lock:
            self._routes.pop((cluster, route.name), None)


class FakeDisks:
    """Disks that hold nothing; implements `hyperkube.hookspecs.cloud.Disks` and `SnapshotsDisks`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._disks: dict[str, Disk] = {}
        self._snapshots: dict[str, DiskSnapshot] = {}
        self._holders: dict[str, NodeName] = {}

    def create(self, request: DiskRequest) -> Disk:
        """Make a disk in the one zone."""
        if request.zone not in {"", ZONE}:
            raise CloudFailed(f"zone {request.zone!r} does not exist (known: {ZONE})")
        labels = {"topology.kubernetes.io/zone": ZONE, "topology.kubernetes.io/region": REGION}
        if request.snapshot:
            self.snapshot(request.snapshot)
        with self._lock:
            disk = Disk(id=f"disk-{request.name}", size=request.size, labels=labels)
            return self._disks.setdefault(disk.id, disk)

    def delete(self, disk_id: str) -> None:
        """Forget a disk."""
        with self._lock:
            if disk_id in self._holders:
                raise CloudFailed(f"disk {disk_id!r} is attached to {self._holders[disk_id]!r}")
            self._disks.pop(disk_id, None)

    def resize(self, disk_id: str, size: int) -> int:
        """Make a disk larger."""
        with self._lock:
            disk = self._disk(disk_id)
            self._disks[disk_id] = replace(disk, size=max(disk.size, size))
            return self._disks[disk_id].size

    def attach(self, disk_id: str, node: Object, *, read_only: bool = False) -> str:
        """Note who has the disk."""
        if not FakeInstances().exists(node):
            raise InstanceNotFound(f"node {name_of(node)!r} has no machine")
        with self._lock:
            self._disk(disk_id)
            holder = self._holders.setdefault(disk_id, NodeName(name_of(node)))
            if holder != name_of(node):
                raise DiskAttachedElsewhere(f"disk {disk_id!r} is attached to {holder!r}", holder)
        return f"/dev/disk/by-id/{disk_id}"

    def detach(self, disk_id: str, node_name: NodeName) -> None:
        """Note that the node has it no longer."""
        with self._lock:
            if self._holders.get(disk_id) == node_name:
                del self._holders[disk_id]

    def attached(self, disk_ids: Sequence[str], node_name: NodeName) -> Mapping[str, bool]:
        """Tell of each whether the node has it."""
        with self._lock:
            return {disk_id: self._holders.get(disk_id) == node_name for disk_id in disk_ids}

    def create_snapshot(self, name: str, disk_id: str) -> DiskSnapshot:
        """Note a snapshot."""
        with self._lock:
            ident = f"snapshot-{name}"
            if ident not in self._snapshots:
                size, now = self._disk(disk_id).size, self._clock.now().timestamp()
                self._snapshots[ident] = DiskSnapshot(id=ident, disk=disk_id, size=size, created=now, ready=True)
            return self._snapshots[ident]

    def snapshot(self, snapshot_id: str) -> DiskSnapshot:
        """Return a snapshot."""
        with self._lock:
            if snapshot_id not in self._snapshots:
                raise SnapshotNotFound(f"there is no snapshot {snapshot_id!r}")
            return self._snapshots[snapshot_id]

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Forget a snapshot."""
        with self._lock:
            self._snapshots.pop(snapshot_id, None)

    def _disk(self, disk_id: str) -> Disk:
        if disk_id not in self._disks:
            raise DiskNotFound(f"there is no disk {disk_id!r}")
        return self._disks[disk_id]


class FakeClusters:
    """One cluster, this one; implements `hyperkube.hookspecs.cloud.Clusters`."""

    def list(self) -> Sequence[str]:
        """Return its name."""
        return [PROVIDER]

    def master(self, cluster: str) -> str:
        """Return an address of the range that is set aside."""
        if cluster != PROVIDER:
            raise CloudFailed(f"there is no cluster {cluster!r}")
        return f"{BALANCER_NETWORK}.0.1"


class Fake(Plugin):
    """Offers all capabilities."""

    def things(self) -> FakeThings:
        """Return what keeps balancers: it lasts as long as this plugin; a test gives one that outlives it."""
        return FakeThings()

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Return the provider; it needs no configuration."""
        return Cloud(
            name=PROVIDER,
            load_balancers=FakeLoadBalancers(self.things()),
            instances=FakeInstances(),
            routes=FakeRoutes(),
            disks=FakeDisks(self.context.clock),
            clusters=FakeClusters(),
        )
