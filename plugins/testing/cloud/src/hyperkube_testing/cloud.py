# ruff: noqa: D102 - tests, whose names are their docstrings
"""What every cloud provider promises: subclass `CloudContract` and build the plugin, twice if asked."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn, TypeVar

from hyperkube.hookspecs import cloud as specs
from hyperkube.hookspecs.base import Plugin
from hyperkube.hookspecs.cloud import (
    AddsSshKeys,
    Cloud,
    CloudFailed,
    CloudHooks,
    DiskNotFound,
    DiskRequest,
    Disks,
    FileShareNotFound,
    FileShares,
    InstanceNotFound,
    Instances,
    LoadBalancers,
    NamesBalancers,
    Route,
    Routes,
    SnapshotNotFound,
    SnapshotsDisks,
    UpdatesHosts,
)
from hyperkube.machinery.objects import NodeName, Object, copy_object
from hyperkube.plugin.loader import PluginHost
from hyperkube.testing.harness import SkipTest, raises

if TYPE_CHECKING:
    import pytest

CLUSTER = "contract"
GIB = 2**30
Capability = TypeVar("Capability")


def service(name: str, status: Object | None = None, *, port: int = 80) -> Object:
    """Return a Service of type LoadBalancer, with the balancer's status if it has one already."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        "spec": {
            "type": "LoadBalancer",
            "clusterIP": "10.0.0.9",
            "ports": [{"name": "http", "port": port, "nodePort": 30000 + port, "protocol": "TCP"}],
        },
        "status": {"loadBalancer": copy_object(status or {})},
    }


class CloudContract:
    """The promises of `hyperkube.hookspecs.cloud`, as tests; those of a capability it has not are skipped.

    A subclass gives the plugin as pytest fixture ``built``, with fixtures of its own for what that needs.

    Attributes:
        shares_addresses: balancers of several Services may have the same address, where their ports differ: the nodes'
            own addresses, say.
    """

    shares_addresses = False

    def after_crash(self, built: Plugin) -> Plugin:
        """Return a new instance of the plugin with the same configuration, as after a crash of its host."""
        return type(built)(built.context)

    def node(self) -> Object:
        """Return a node behind which the cloud has a running machine; needed by providers with instances."""
        import pytest

        pytest.fail("a provider with instances overrides node(): a node with a running machine behind it")

    def nodes(self) -> list[Object]:
        """Return the nodes that balancers are to send traffic to."""
        return [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "spec": {}, "status": {}}]

    def cloud(self, built: Plugin) -> Cloud:
        """Call the hook."""
        host: PluginHost[CloudHooks] = PluginHost("cloud", specs, [(built.context.name, built)])
        return host.hook.cloud_provider()

    def balancers(self, built: Plugin) -> LoadBalancers:
        """Return the capability, or skip the test."""
        return _needed(self.cloud(built).load_balancers, "load balancers")

    def instances(self, built: Plugin) -> Instances:
        """Return the capability, or skip the test."""
        return _needed(self.cloud(built).instances, "instances")

    def ssh_keys(self, instances: Instances) -> list[str]:
        """Return the lines, ``USER:TYPE BASE64…``, of the keys that open the machines; for providers that add keys."""
        import pytest

        pytest.fail("a provider that adds SSH keys overrides ssh_keys(): the lines that its machines are given")

    def routes(self, built: Plugin) -> Routes:
        """Return the capability, or skip the test."""
        return _needed(self.cloud(built).routes, "routes")

    def disks(self, built: Plugin) -> Disks:
        """Return the capability, or skip the test."""
        return _needed(self.cloud(built).disks, "disks")

    def file_shares(self, built: Plugin) -> FileShares:
        """Return the capability, or skip the test."""
        return _needed(self.cloud(built).file_shares, "shares of files")

    def snapshots(self, disks: Disks) -> SnapshotsDisks:
        """Return the disks if snapshots can be taken of them, or skip the test."""
        if not isinstance(disks, SnapshotsDisks):
            raise SkipTest("no snapshots can be taken of this provider's disks")
        return disks

    def request(self, name: str = "pvc-1", size: int = GIB) -> DiskRequest:
        """Return a disk that the provider can make."""
        return DiskRequest(name=name, size=size)

    def route_target(self) -> NodeName:
        """Return the node that routes may lead to."""
        return NodeName("n1")

    def missing_disk(self) -> str:
        """Return the id of a disk that does not exist, as the provider writes ids."""
        return "missing"

    def test_it_has_a_name_and_a_capability(self, built: Plugin) -> None:
        cloud = self.cloud(built)

        assert cloud.name
        assert cloud.load_balancers or cloud.instances or cloud.routes or cloud.disks or cloud.volumes

    def test_building_it_makes_no_network_call(self, built: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_args: object, **_words: object) -> NoReturn:
            raise AssertionError("the provider opened a connection while it was built")

        monkeypatch.setattr(socket, "getaddrinfo", refuse)
        monkeypatch.setattr(socket.socket, "connect", refuse)

        assert self.cloud(self.after_crash(built))

    def test_a_service_has_no_balancer_before_it_is_asked_for(self, built: Plugin) -> None:
        assert self.balancers(built).get(CLUSTER, service("unseen")) is None

    def test_ensure_makes_a_balancer_that_get_finds(self, built: Plugin) -> None:
        balancers = self.balancers(built)

        status = balancers.ensure(CLUSTER, service("a"), self.nodes())

        assert status["ingress"]
        assert all(row.get("ip") or row.get("hostname") for row in status["ingress"])
        assert balancers.get(CLUSTER, service("a", status)) == status

    def test_ensure_may_be_repeated(self, built: Plugin) -> None:
        balancers = self.balancers(built)
        status = balancers.ensure(CLUSTER, service("a"), self.nodes())

        assert balancers.ensure(CLUSTER, service("a", status), self.nodes()) == status

    def test_two_services_have_two_balancers(self, built: Plugin) -> None:
        balancers = self.balancers(built)

        first = balancers.ensure(CLUSTER, service("a"), self.nodes())
        second = balancers.ensure(CLUSTER, service("b", port=81), self.nodes())

        assert second["ingress"]
        assert first != second or self.shares_addresses
        balancers.ensure_deleted(CLUSTER, service("b", second, port=81))
        assert balancers.get(CLUSTER, service("a", first)) == first

    def test_a_balancer_outlives_a_crash(self, built: Plugin) -> None:
        status = self.balancers(built).ensure(CLUSTER, service("a"), self.nodes())

        again = self.balancers(self.after_crash(built))

        assert again.ensure(CLUSTER, service("a", status), self.nodes()) == status
        assert self.shares_addresses or again.ensure(CLUSTER, service("b"), self.nodes()) != status

    def test_ensure_does_not_change_the_service(self, built: Plugin) -> None:
        asked = service("a")

        self.balancers(built).ensure(CLUSTER, asked, self.nodes())

        assert asked == service("a")

    def test_deleting_a_balancer_may_be_repeated(self, built: Plugin) -> None:
        balancers = self.balancers(built)
        status = balancers.ensure(CLUSTER, service("a"), self.nodes())

        balancers.ensure_deleted(CLUSTER, service("a", status))
        balancers.ensure_deleted(CLUSTER, service("a", status))

        assert balancers.get(CLUSTER, service("a")) is None

    def test_a_known_machine_is_described(self, built: Plugin) -> None:
        instances = self.instances(built)

        assert instances.exists(self.node())
        assert not instances.is_shut_down(self.node())
        assert instances.metadata(self.node()).provider_id

    def test_an_unknown_machine_is_not_found(self, built: Plugin) -> None:
        stranger = {"metadata": {"name": "stranger"}, "spec": {}, "status": {}}
        instances = self.instances(built)

        assert not instances.exists(stranger)
        with raises(InstanceNotFound):
            instances.metadata(stranger)

    def test_an_ssh_key_is_added_once_and_beside_others(self, built: Plugin) -> None:
        instances = self.instances(built)
        adder: object = instances
        if not isinstance(adder, AddsSshKeys):
            raise SkipTest("this provider adds no SSH keys")
        before = self.ssh_keys(instances)

        for user, key in (("core", "ssh-rsa AAAAB3"), ("core", "ssh-rsa AAAAB4"), ("core", "ssh-rsa AAAAB3")):
            adder.add_ssh_key(user, key)

        added = [line for line in self.ssh_keys(instances) if line not in before]
        assert [line.split()[:2] for line in added] == [["core:ssh-rsa", "AAAAB3"], ["core:ssh-rsa", "AAAAB4"]]
        assert self.ssh_keys(instances)[: len(before)] == before

    def test_routes_may_be_made_and_removed_repeatedly(self, built: Plugin) -> None:
        routes = self.routes(built)
        route = Route("r", self.route_target(), "10.1.0.0/24")

        routes.create(CLUSTER, route)
        routes.create(CLUSTER, route)
        held = [each.destination for each in routes.list(CLUSTER)]
        routes.delete(CLUSTER, route)
        routes.delete(CLUSTER, route)

        assert held == ["10.1.0.0/24"]
        assert list(routes.list(CLUSTER)) == []

    def test_a_balancer_follows_the_nodes_and_keeps_its_address(self, built: Plugin) -> None:
        balancers = self.balancers(built)
        if not isinstance(balancers, UpdatesHosts):
            raise SkipTest("these balancers are made anew when nodes change")
        status = balancers.ensure(CLUSTER, service("a"), self.nodes())

        balancers.update(CLUSTER, service("a", status), [])
        balancers.update(CLUSTER, service("a", status), self.nodes())

        assert balancers.get(CLUSTER, service("a", status)) == status

    def test_balancers_have_names_of_their_own(self, built: Plugin) -> None:
        balancers = self.balancers(built)
        if not isinstance(balancers, NamesBalancers):
            raise SkipTest("these balancers have no names")

        names = {balancers.name(CLUSTER, service(name)) for name in ("a", "b", "a")}

        assert len(names) == 2

    def test_a_disk_is_made_once_for_its_name(self, built: Plugin) -> None:
        disks = self.disks(built)

        made = disks.create(self.request())

        assert disks.create(self.request()).id == made.id
        assert made.size >= GIB
        assert disks.create(self.request("pvc-2")).id != made.id

    def test_deleting_a_disk_may_be_repeated(self, built: Plugin) -> None:
        disks = self.disks(built)
        made = disks.create(self.request())

        disks.delete(made.id)
        disks.delete(made.id)

        with raises(DiskNotFound):
            disks.attach(made.id, self.node())

    def test_a_disk_is_attached_and_detached_repeatedly(self, built: Plugin) -> None:
        disks, node = self.disks(built), self.node()
        name = NodeName(node["metadata"]["name"])
        disk = disks.create(self.request()).id

        device = disks.attach(disk, node)
        again = disks.attach(disk, node)
        had = disks.attached([disk], name)
        disks.detach(disk, name)
        disks.detach(disk, name)

        assert device == again
        assert had == {disk: True}
        assert disks.attached([disk], name) == {disk: False}

    def test_a_disk_that_is_attached_is_not_deleted(self, built: Plugin) -> None:
        disks = self.disks(built)
        disk = disks.create(self.request()).id
        disks.attach(disk, self.node())

        with raises(CloudFailed):
            disks.delete(disk)

    def test_a_disk_grows_and_does_not_shrink(self, built: Plugin) -> None:
        disks = self.disks(built)
        disk = disks.create(self.request()).id

        assert disks.resize(disk, 2 * GIB) >= 2 * GIB
        assert disks.resize(disk, GIB) >= 2 * GIB

    def test_a_disk_that_is_not_there_is_not_found(self, built: Plugin) -> None:
        disks = self.disks(built)

        with raises(DiskNotFound):
            disks.attach(self.missing_disk(), self.node())
        with raises(DiskNotFound):
            disks.resize(self.missing_disk(), GIB)
        disks.detach(self.missing_disk(), NodeName("n1"))

    def test_a_share_is_made_once_for_its_name_and_grows_and_does_not_shrink(self, built: Plugin) -> None:
        shares = self.file_shares(built)

        made = shares.create(self.request())

        assert shares.create(self.request()) == made
        assert shares.create(self.request("pvc-2")).id != made.id
        assert made.size >= GIB
        assert shares.resize(made.id, 2 * GIB) >= 2 * GIB
        assert shares.resize(made.id, GIB) >= 2 * GIB

    def test_a_share_is_deleted_repeatedly_and_shows_nobody_how_it_is_mounted(self, built: Plugin) -> None:
        shares = self.file_shares(built)
        made = shares.create(self.request())

        shares.delete(made.id)
        shares.delete(made.id)

        assert not any(value in repr(made) for value in made.credentials.values() if value not in made.id)
        with raises(FileShareNotFound):
            shares.resize(made.id, GIB)

    def test_a_snapshot_is_taken_once_for_its_name_and_becomes_a_disk(self, built: Plugin) -> None:
        disks = self.disks(built)
        snapshots = self.snapshots(disks)
        disk, other = (disks.create(self.request(name)).id for name in ("pvc-1", "pvc-2"))

        taken = snapshots.create_snapshot("snapshot-1", disk)
        again = snapshots.create_snapshot("snapshot-1", other)
        made = disks.create(replace(self.request("pvc-3", taken.size), snapshot=taken.id))

        assert (again.id, again.disk) == (taken.id, taken.disk)
        assert snapshots.create_snapshot("snapshot-2", disk).id != taken.id
        assert snapshots.snapshot(taken.id).ready
        assert taken.size >= GIB
        assert made.size >= taken.size
        assert made.id not in {disk, other}

    def test_deleting_a_snapshot_may_be_repeated_and_leaves_the_disks(self, built: Plugin) -> None:
        disks = self.disks(built)
        snapshots = self.snapshots(disks)
        disk = disks.create(self.request()).id
        taken = snapshots.create_snapshot("snapshot-1", disk)

        snapshots.delete_snapshot(taken.id)
        snapshots.delete_snapshot(taken.id)

        with raises(SnapshotNotFound):
            snapshots.snapshot(taken.id)
        assert disks.create(self.request()).id == disk

    def test_no_snapshot_is_taken_of_a_disk_that_is_not_there(self, built: Plugin) -> None:
        snapshots = self.snapshots(self.disks(built))

        with raises(DiskNotFound):
            snapshots.create_snapshot("snapshot-1", self.missing_disk())


def _needed(capability: Capability | None, name: str) -> Capability:
    if capability is None:
        raise SkipTest(f"this provider has no {name}")
    return capability
