"""Two nodes and a client on a network of their own: who answers, and who does when that one goes."""

import ctypes
import os
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from hyperkube_addon.load_balancer_announcer import LoadBalancerAnnouncer
from hyperkube_addon.load_balancer_announcer.speakers import speaker

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import LEASES, SERVICES
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.addon import AddonContract
from hyperkube.testing.waiting import eventually

CLONE_NEWNET = 0x40000000
PLACES = ("one", "two", "client")
VIPS = ("198.51.100.50", "2001:db8::50")
LEASE_SECONDS = 3.0


def built(client, node, **settings):
    clock = SystemClock()
    informers = InformerFactory(client, clock)
    given = {"node_name": node, "lease_seconds": LEASE_SECONDS, **settings}
    context = PluginContext(
        name="load-balancer-announcer", client=client, clock=clock, informers=informers, settings=given
    )
    return LoadBalancerAnnouncer(context), informers


class TestContract(AddonContract):
    serves = True

    def build(self):
        # Loopback is no Ethernet: nothing is said to anyone.
        return built(FakeClient(), "here", interfaces=["lo"])[0]

    test_what_it_serves_ends_when_it_is_closed = pytest.mark.skipif(
        os.geteuid() != 0, reason="only root has raw sockets"
    )(AddonContract.test_what_it_serves_ends_when_it_is_closed)


class Network:
    """Namespaces on one bridge, which is in a namespace as well."""

    def __init__(self):
        self.prefix = f"lb{os.getpid()}-"
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self):
        p = self.prefix
        lines = [f"ip netns add {p}{name}" for name in ("bridge", *PLACES)]
        lines += [f"ip -n {p}bridge link add br0 type bridge", f"ip -n {p}bridge link set br0 up"]
        for number, name in enumerate(PLACES, 1):
            lines += [
                f"ip -n {p}bridge link add v{number} type veth peer name eth0 netns {p}{name}",
                f"ip -n {p}bridge link set v{number} master br0 up",
                f"ip -n {p}{name} addr add 198.51.100.{number}/24 dev eth0",
                f"ip -n {p}{name} addr add 2001:db8::{number}/64 dev eth0 nodad",
                f"ip -n {p}{name} link set eth0 up",
            ]
        try:
            subprocess.run(["sh", "-ec", "\n".join(lines)], check=True, timeout=60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in ("bridge", *PLACES):
            subprocess.run(["ip", "netns", "del", self.prefix + name], capture_output=True, check=False)

    def within(self, name, call):
        """Start a thread in a namespace."""

        def run():
            with Path(f"/run/netns/{self.prefix}{name}").open() as namespace:
                assert self.libc.setns(namespace.fileno(), CLONE_NEWNET) == 0
            call()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def ip(self, name, *words):
        command = ["ip", "-n", self.prefix + name, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout

    def mac(self, name):
        return self.ip(name, "-o", "link", "show", "eth0").split("link/ether ")[1].split()[0]

    def knock(self):
        """Let the client send something to each address, for which its kernel asks where that is."""

        def send():
            for address in VIPS:
                family = socket.AF_INET6 if ":" in address else socket.AF_INET
                with socket.socket(family, socket.SOCK_DGRAM) as one:
                    one.setblocking(False)
                    one.sendto(b"?", (address, 9))

        self.within("client", send).join()

    def seen(self):
        """Return where the client finds the addresses: their MACs."""
        self.knock()
        rows = [line.split() for line in self.ip("client", "neigh", "show").splitlines()]
        return {row[0]: row[row.index("lladdr") + 1] for row in rows if row[0] in VIPS and "lladdr" in row}


def test_a_node_that_is_not_heard_of_is_taken_for_gone():
    client = FakeClient()
    lease = {
        "metadata": {"name": "load-balancer-announcer-two", "namespace": "kube-system"},
        "spec": {"holderIdentity": "two", "renewTime": "2026-01-01T00:00:00.000000Z"},
    }
    client.seed(LEASES, lease)
    addon, informers = built(client, "one")
    leases = informers.informer(LEASES)
    informers.refresh()

    first = addon._alive(leases, 100.0)
    still = addon._alive(leases, 100.0 + LEASE_SECONDS - 1)
    gone = addon._alive(leases, 100.0 + LEASE_SECONDS)
    client.patch(LEASES, "load-balancer-announcer-two", {"spec": {"renewTime": "later"}}, "kube-system")
    informers.refresh()

    assert (first, still, gone) == (["two"], ["two"], []), "nor does one count that could not tell the others of itself"
    assert addon._alive(leases, 110.0) == ["two"]


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and ip")
@pytest.mark.timeout(200)
def test_one_node_answers_and_another_does_when_it_goes():
    world = FakeClient()
    rows = [{"ip": address, "ipMode": "VIP"} for address in VIPS]
    web = {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"type": "LoadBalancer"},
        "status": {"loadBalancer": {"ingress": rows}},
    }
    with Network() as network:
        addons = {name: built(world, name, interfaces=["eth0"]) for name in ("one", "two")}
        threads = {}
        try:
            for name, (addon, informers) in addons.items():
                informers.start()
                threads[name] = network.within(name, addon.addon_start)
            world.seed(SERVICES, web)
            macs = {name: network.mac(name) for name in addons}
            both = {address: macs[speaker(address, addons)] for address in VIPS}
            eventually(lambda: network.seen() == both, why="each address is at the node it falls to")

            addons["one"][0].close()
            threads["one"].join(30)
            eventually(lambda: network.seen() == dict.fromkeys(VIPS, macs["two"]), why="the other node takes over")
            assert [row["spec"]["holderIdentity"] for row in world.objects(LEASES)] == ["two"]
        finally:
            for name, (addon, informers) in addons.items():
                addon.close()
                informers.stop()
                if name in threads:
                    threads[name].join(30)
    assert not any(thread.is_alive() for thread in threads.values())
