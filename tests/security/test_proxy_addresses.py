"""Proxies lead to global unicast addresses alone; the slice of a local cluster is the one exception."""

import json

import pytest
from hyperkube_host.apiserver.connect.addresses import is_proxyable
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest, RelayUpgrade

from hyperkube.kinds.resources import ENDPOINT_SLICES, NODES, PODS, SERVICES
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore

LABEL = {"kubernetes.io/service-name": "s"}
FORBIDDEN = [
    "127.0.0.1", "127.255.255.254", "::1",  "0.0.0.0", "::", "169.254.169.254", "fe80::1",
     "224.0.0.1", "ff02::1", "255.255.255.255"
]  # fmt: skip
ALLOWED = ["10.0.0.7", "192.168.1.1", "8.8.8.8", "fd00::1", "2001:db8::1"]
SLICE = {"feature-gates": {"AllowLoopbackEndpoints": True}, "service-cluster-ip-range": "127.70.128.0/17"}


class Cluster:
    def __init__(self, **options):
        options = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"], **options}
        self.server = ApiServer(options=options, store=MemoryStore())
        self.server.start()
        self.client = self.server.client(LOOPBACK)
        spec = {"containers": [{"name": "c", "image": "i"}]}
        self.make(PODS, "p", {"spec": spec})
        self.make(NODES, "n", {}, "")
        self.make(SERVICES, "s", {"spec": {"ports": [{"port": 80}], "clusterIP": "None"}})

    def make(self, resource, name, fields, namespace="default", **meta):
        kind = {PODS: "Pod", NODES: "Node", SERVICES: "Service"}.get(resource, "EndpointSlice")
        version = "discovery.k8s.io/v1" if resource == ENDPOINT_SLICES else "v1"
        obj = {"kind": kind, "apiVersion": version, "metadata": {"name": name, **meta}, **fields}
        self.client.create(resource, obj, namespace)

    def pod_at(self, address):
        status = {"podIP": address or None, "podIPs": [{"ip": address}] if address else None}
        self.client.patch(PODS, "p", {"status": status}, "default", subresource="status")

    def slice(self, name, address, kind):
        ports = [{"name": "", "port": 8080, "protocol": "TCP"}]
        fields = {"addressType": kind, "endpoints": [{"addresses": [address]}], "ports": ports}
        self.make(ENDPOINT_SLICES, name, fields, labels=LABEL)
        try:
            return self.ask("namespaces/default/services/s")
        finally:
            self.client.delete(ENDPOINT_SLICES, name, "default")

    def ask(self, path):
        request = HttpRequest(
            method="GET", path=f"/api/v1/{path}/proxy/x", headers={"host": "api.example"}, user=LOOPBACK
        )
        return self.server.handler.handle(request)


@pytest.fixture(scope="module")
def plain():
    cluster = Cluster()
    yield cluster
    cluster.server.close()


@pytest.fixture(scope="module")
def local():
    cluster = Cluster(**SLICE)
    yield cluster
    cluster.server.close()


def refusal(answer):
    return answer.status, json.loads(answer.body)["message"]


@pytest.mark.parametrize("address", FORBIDDEN)
def test_a_pod_at_a_special_address_is_not_proxied_to(plain, address):
    plain.pod_at(address)

    assert refusal(plain.ask("namespaces/default/pods/p")) == (400, "address not allowed")


@pytest.mark.parametrize("address", ALLOWED)
def test_a_pod_elsewhere_is(plain, address):
    plain.pod_at(address)

    assert isinstance(plain.ask("namespaces/default/pods/p"), RelayUpgrade)


@pytest.mark.parametrize("port", ["0", "65536", "99999999999999999999", "443x"])
def test_a_port_is_one(plain, port):
    assert plain.ask(f"nodes/n:{port}").status == 400


@pytest.mark.parametrize("address", ["localhost", "127.1", "0x7f000001", "metadata.example"])
def test_names_of_endpoints_are_not_followed(plain, address):
    if "." not in address or address == "127.1":
        address = f"{address}.example"
    status, text = refusal(plain.slice("names", address, "FQDN"))

    assert (status, text) == (503, 'no endpoints available for service "s"')


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "0.0.0.0", "169.254.169.254"])
def test_another_port_of_a_node_is_checked_by_its_addresses(plain, host):
    kind = "InternalIP" if host[0].isdigit() and host.count(".") == 3 else "Hostname"
    status = {"addresses": [{"type": kind, "address": host}], "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}}
    plain.client.patch(NODES, "n", {"status": status}, "", subresource="status")

    assert refusal(plain.ask("nodes/n:22")) == (400, "address not allowed")
    assert isinstance(plain.ask("nodes/n:10250"), RelayUpgrade)


def test_another_port_of_a_node_is_asked_there(plain):
    status = {"addresses": [{"type": "InternalIP", "address": "10.1.2.3"}]}
    plain.client.patch(NODES, "n", {"status": status}, "", subresource="status")

    way = plain.ask("nodes/https:n:9100")

    assert (way.host, way.port, way.tls, way.certificate_file) == ("10.1.2.3", 9100, True, "")


@pytest.mark.parametrize(
    ("address", "allowed"),
    [("127.70.0.3", True), ("127.70.255.254", True), ("127.71.0.3", False), ("127.0.0.1", False), ("10.0.0.1", True)],
)
def test_a_local_cluster_reaches_its_own_slice_alone(local, address, allowed):
    local.pod_at(address)

    assert isinstance(local.ask("namespaces/default/pods/p"), RelayUpgrade) == allowed
    assert isinstance(local.slice("own", address, "IPv4"), RelayUpgrade) == allowed


@pytest.mark.parametrize(
    ("address", "allowed"),
    [("127.64.0.3", True), ("127.223.0.3", True), ("127.63.0.3", False), ("127.224.0.3", False), ("127.0.0.1", False)],
)
def test_with_services_elsewhere_the_slices_of_process_pods_are_allowed(address, allowed):
    assert is_proxyable(address, Options.of({"service-cluster-ip-range": "10.0.0.0/24"})) == allowed


@pytest.mark.parametrize(
    ("address", "allowed"),
    [("::ffff:127.0.0.1", False), ("::ffff:169.254.169.254", False), ("::ffff:10.0.0.7", True), ("", False),
     ("localhost", False), ("127.1", False), ("fe80::1%1", False)],
)  # fmt: skip
def test_no_other_form_of_an_address_is_another_address(address, allowed):
    assert is_proxyable(address, Options.of({"service-cluster-ip-range": "10.0.0.0/24"})) == allowed
