"""The addon, from its start to its end."""

import threading

import dns.message
import dns.query
from hyperkube_addon.dns import Dns
from hyperkube_addon.dns.addon import Settings, routes

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import ENDPOINT_SLICES, NAMESPACES, SERVICES
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.addon import AddonContract
from hyperkube.testing.waiting import eventually

KUBERNETES = {
    "metadata": {"name": "kubernetes", "namespace": "default"},
    "spec": {"clusterIP": "127.0.128.1", "ports": [{"name": "https", "port": 443}]},
}
ENDPOINT = {
    "metadata": {
        "name": "kubernetes",
        "namespace": "default",
        "labels": {"kubernetes.io/service-name": "kubernetes"},
    },
    "addressType": "IPv4",
    "endpoints": [{"addresses": ["127.0.0.1"]}],
}


def built(client, **settings):
    clock = SystemClock()
    informers = InformerFactory(client, clock)
    return Dns(PluginContext(name="dns", client=client, clock=clock, informers=informers, settings=settings)), informers


class TestContract(AddonContract):
    serves = True

    def build(self):
        return built(FakeClient())[0]


def test_it_serves_the_cluster_at_the_tenth_address():
    client = FakeClient()
    client.seed(NAMESPACES, {"metadata": {"name": "default"}})
    client.seed(SERVICES, KUBERNETES)
    client.seed(ENDPOINT_SLICES, ENDPOINT)
    addon, informers = built(client, upstreams=["127.0.0.1:1"])
    informers.start()
    thread = threading.Thread(target=addon.addon_start, daemon=True)
    thread.start()

    (slices,) = eventually(lambda: client.objects(ENDPOINT_SLICES, "kube-system"))
    place, port = slices["endpoints"][0]["addresses"][0], slices["ports"][0]["port"]

    def addresses(name):
        answer = dns.query.udp(dns.message.make_query(name, "A"), place, timeout=60, port=port)
        return [row.to_text() for rows in answer.answer for row in rows]

    assert addresses("kubernetes.default.svc.cluster.local") == ["127.0.128.1"]
    eventually(lambda: addresses("kube-dns.kube-system.svc.cluster.local") == ["127.0.128.10"])
    client.create(
        SERVICES,
        {"metadata": {"name": "new", "namespace": "default"}, "spec": {"clusterIP": "127.0.128.20"}},
        "default",
    )
    eventually(lambda: addresses("new.default.svc.cluster.local") == ["127.0.128.20"])
    client.delete(SERVICES, "new", "default")
    eventually(lambda: addresses("new.default.svc.cluster.local") == [])
    service = client.get(SERVICES, "kube-dns", "kube-system")
    addon.close()
    thread.join(10)
    informers.stop()

    assert not thread.is_alive()
    assert service["metadata"]["labels"] == {
        "k8s-app": "kube-dns",
        "kubernetes.io/cluster-service": "true",
        "kubernetes.io/name": "KubeDNS",
        "addonmanager.kubernetes.io/mode": "Reconcile",
    }
    assert service["spec"]["selector"] == {"k8s-app": "kube-dns"}
    assert [(row["name"], row["port"], row["protocol"]) for row in service["spec"]["ports"]] == [
        ("dns", 53, "UDP"),
        ("dns-tcp", 53, "TCP"),
    ]


def test_other_names_are_asked_of_the_machines_own_servers(tmp_path):
    file = tmp_path / "resolv.conf"
    file.write_text("search example.org\nnameserver 192.0.2.53\nnameserver fd00::53\n")
    settings = Settings(resolv_conf=str(file), stub_domains={"Corp.Example.": ("192.0.2.9:5353",)})

    found = routes(settings)

    assert [server.host for server in found.servers("www.example.org")] == ["192.0.2.53", "fd00::53"]
    assert [server.port for server in found.servers("a.b.corp.example")] == [5353]
    assert [server.port for server in found.servers("xcorp.example")] == [53, 53]
