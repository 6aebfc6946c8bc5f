"""What goes through the proxy of the selection ``cluster``."""

import pytest
from hyperkube_host.apiserver.egress_selector.dialer import ProxyDialer
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore

pytest.importorskip("hyperkube_api.core", reason="needs the API groups")

FILE = """
apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: /no/such/socket}}}
"""


def test_kubelets_and_pods_are_reached_through_the_proxy(tmp_path, monkeypatch):
    file = tmp_path / "egress.yaml"
    file.write_text(FILE)
    given = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
    server = ApiServer(options={**given, "egress-selector-config-file": str(file)}, store=MemoryStore())
    seen = []
    monkeypatch.setattr(ProxyDialer, "__call__", lambda _self, host, port: seen.append((host, port)))
    server.start()
    try:
        client = server.client(LOOPBACK)
        client.create(NODES, {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}})
        address = {"status": {"addresses": [{"type": "InternalIP", "address": "192.0.2.1"}]}}
        client.patch(NODES, "n", address, subresource="status")
        spec = {"containers": [{"name": "c", "image": "i"}]}
        client.create(PODS, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": spec}, "default")
        client.patch(PODS, "p", {"status": {"podIP": "10.0.0.7"}}, "default", subresource="status")
        for path in ("/api/v1/nodes/n/proxy/healthz", "/api/v1/namespaces/default/pods/p:8080/proxy/"):
            way = server.handler.handle(HttpRequest(method="GET", path=path, headers={"host": "x"}, user=LOOPBACK))
            way.dial(way.host, way.port)
    finally:
        server.close()

    assert seen == [("192.0.2.1", 10250), ("10.0.0.7", 8080)]
