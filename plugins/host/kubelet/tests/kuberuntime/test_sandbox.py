"""What the network is asked for a pod's sandbox, and when."""

from types import SimpleNamespace

import pytest
from hyperkube_host.kubelet.cm.unmanaged import UnmanagedContainerManager
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.kuberuntime.linux_resources import ResourceSettings
from hyperkube_host.kubelet.kuberuntime.sandbox import SandboxManager
from hyperkube_host.kubelet.kuberuntime.sandbox_config import SandboxSettings
from hyperkube_host.kubelet.network.dns import DnsSettings
from hyperkube_host.kubelet.network.network_choice import use_network
from hyperkube_host.kubelet.network.pod_cidr import PodCidr

from hyperkube.hookspecs.network import NetworkFailed, PodDnsConfig, PodNetwork, PodNetworkRequest, PortMapping
from hyperkube.hookspecs.runtime import RuntimeFailed, SandboxStatus
from hyperkube.machinery.errors import UsageError


class Said:
    """Runtime and network in one: remembers in which order it was asked what."""

    name = "said"
    default_network = "said"
    needs_namespaces = True
    forwards_host_ports = True

    def __init__(self):
        self.said = []
        self.problem = ""
        self.ids = []

    def run_sandbox(self, config, runtime_handler):
        self.ids.append("s1")
        return "s1"

    def network_namespace(self, sandbox_id):
        return f"/run/netns/{sandbox_id}" if sandbox_id in self.ids else ""

    def assign_addresses(self, sandbox_id, ips):
        self.said.append(("ips", ips))

    def stop_sandbox(self, sandbox_id):
        self.said.append(("stop", sandbox_id))
        self.ids.clear()

    def remove_sandbox(self, sandbox_id):
        self.said.append(("remove", sandbox_id))

    def sandboxes(self):
        return [
            SandboxStatus(id=one, namespace="ns", name="p", uid="u", attempt=0, ready=True, created_at=0)
            for one in self.ids
        ]

    def pod(self, uid):
        return self.sandboxes(), ()

    def setup(self, pod):
        self.said.append(("setup", pod))
        if self.problem:
            raise NetworkFailed(self.problem)
        return PodNetwork(("10.1.0.5", "fd00::5"))

    def teardown(self, pod):
        self.said.append(("teardown", pod.namespace_path))
        if self.problem:
            raise NetworkFailed(self.problem)

    def collect_garbage(self, sandbox_ids):
        self.said.append(("garbage", sandbox_ids()))


@pytest.fixture
def both():
    return Said()


@pytest.fixture
def manager(both, tmp_path):
    settings = SandboxSettings(
        dns=DnsSettings(servers=("10.0.0.10",), domain="c.local", node_file=None, node_ips=()),
        resources=ResourceSettings(memory_capacity=1 << 30, container_manager=UnmanagedContainerManager()),
        log_directory=lambda namespace, name, uid: str(tmp_path / uid),
        cgroup_parent=lambda pod: "",
        user_namespace=lambda pod: None,
    )
    return SandboxManager(both, both, ("192.0.2.1",), KubeletEventRecorder(None, "n"), settings, lambda pod: "")


def pod(**spec):
    container = {
        "name": "c",
        "ports": [
            {"containerPort": 80, "hostPort": 8080, "protocol": "TCP", "hostIP": "192.0.2.1"},
            {"containerPort": 53, "hostPort": 53, "protocol": "UDP"},
            {"containerPort": 81},
        ],
    }
    annotations = {"kubernetes.io/ingress-bandwidth": "10M"}
    metadata = {"namespace": "ns", "name": "p", "uid": "u", "annotations": annotations}
    return {"metadata": metadata, "spec": {"containers": [container], **spec}}


def test_the_request_says_what_the_pod_asks_for(both, manager):
    manager.create(pod(), 0)

    assert both.said == [
        (
            "setup",
            PodNetworkRequest(
                "ns",
                "p",
                "u",
                "s1",
                "/run/netns/s1",
                (
                    PortMapping(host_port=8080, container_port=80, host_ip="192.0.2.1"),
                    PortMapping(host_port=53, container_port=53, protocol="UDP"),
                ),
                PodDnsConfig(
                    servers=("10.0.0.10",), searches=("ns.svc.c.local", "svc.c.local", "c.local"), options=("ndots:5",)
                ),
                {"kubernetes.io/ingress-bandwidth": "10M"},
            ),
        ),
        ("ips", ("10.1.0.5", "fd00::5")),
    ]


def test_on_the_nodes_network_it_is_not_asked(both, manager):
    sandbox = manager.create(pod(hostNetwork=True), 0)
    manager.stop(pod(hostNetwork=True), sandbox)

    assert both.said == [("ips", ("192.0.2.1",)), ("stop", "s1")]


def test_a_sandbox_without_a_network_does_not_stay(both, manager):
    both.problem = "no address"

    with pytest.raises(NetworkFailed, match="no address"):
        manager.create(pod(), 0)
    assert both.said[1:] == [("remove", "s1")]


def test_the_interface_goes_before_its_namespace(both, manager):
    sandbox = manager.create(pod(), 0)
    both.said.clear()

    manager.stop(pod(), sandbox)
    manager.remove(sandbox)

    assert both.said == [
        ("teardown", "/run/netns/s1"),
        ("stop", "s1"),
        ("stop", "s1"),
        ("teardown", ""),
        ("remove", "s1"),
    ]


def test_a_sandbox_stays_as_long_as_its_network_does(both, manager):
    sandbox = manager.create(pod(), 0)
    both.said.clear()
    both.problem = "the program hangs"

    with pytest.raises(NetworkFailed, match="the program hangs"):
        manager.remove(sandbox)
    assert both.said == [("teardown", "/run/netns/s1"), ("stop", "s1")]


def test_garbage_is_collected_once(both, manager):
    both.ids.append("s9")

    manager.collect_network_garbage()
    manager.collect_network_garbage()

    assert both.said == [("garbage", frozenset({"s9"}))]


def test_a_network_of_namespaces_needs_a_runtime_that_has_them():
    runtime = SimpleNamespace(name="plain", default_network="said", assign_addresses=print)

    use_network("said", Said(), "said", Said())
    with pytest.raises(
        UsageError, match=r'^network plugin "said" needs network namespaces, which runtime "r" has not$'
    ):
        use_network("said", Said(), "r", runtime)


def test_a_runtime_that_makes_namespaces_is_told_to():
    told = []
    runtime = SimpleNamespace(
        name="plain", default_network="", assign_addresses=print, make_network_namespaces=lambda: told.append(1)
    )

    use_network("said", Said(), "r", runtime)

    assert told == [1]


def test_a_runtime_with_networks_of_its_own_makes_the_flag_useless(caplog):
    use_network("said", Said(), "remote", SimpleNamespace(name="containerd"))

    assert '--network-plugin=said has no effect: the runtime "remote" connects its pods itself' in caplog.text


def test_the_ranges_are_told_when_they_change():
    told = []
    network = SimpleNamespace(set_pod_cidr=told.append)
    cidr = PodCidr(network, SimpleNamespace(), "10.1.0.0/24")

    for spec in ({}, {"podCIDRs": ["10.1.0.0/24"]}, {"podCIDR": "10.2.0.0/24"}, {"podCIDR": "10.2.0.0/24"}):
        cidr.update({"spec": spec})
    cidr.update({"spec": {"podCIDR": "10.2.0.0/24", "podCIDRs": ["10.2.0.0/24", "fd00::/64"]}})

    assert told == ["10.2.0.0/24", "10.2.0.0/24,fd00::/64"]


def test_a_runtime_that_refuses_the_ranges_is_told_again():
    told = []

    def update(cidr):
        told.append(cidr)
        if len(told) == 1:
            raise RuntimeFailed("not now")

    cidr = PodCidr(None, SimpleNamespace(runtime_config=dict, update_runtime_config=update), "")
    for _ in range(3):
        cidr.update({"spec": {"podCIDR": "10.2.0.0/24"}})

    assert told == ["10.2.0.0/24", "10.2.0.0/24"]
