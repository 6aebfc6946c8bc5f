"""Webhooks, issuers of tokens and etcd, reached by ``CONNECT`` through a proxy of their selection."""

import json
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_testing.peers.openid_issuer import OpenIdIssuer
from hyperkube_testing.peers.peer import Peer

from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

sys.path.insert(0, str(Path(__file__).parent))

from server_processes import ApiServer as ApiServerProcess
from server_processes import Etcd, configmap, need_etcd, running

MAPS = "/api/v1/namespaces/default/configmaps"
EGRESS = """
apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: {name}
  connection: {{proxyProtocol: HTTPConnect, transport: {{tcp: {{url: "http://127.0.0.1:{port}"}}}}}}
"""
POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"


class ConnectProxy:
    """A proxy that connects to whatever it is asked for; `targets` are the addresses, in order."""

    def __init__(self):
        self.targets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._listener.close()

    def _serve(self):
        with suppress(OSError):
            while True:
                wire, _ = self._listener.accept()
                threading.Thread(target=self._tunnel, args=(wire,), daemon=True).start()

    def _tunnel(self, wire):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += wire.recv(1)
        target = head.split(b" ")[1].decode()
        self.targets.append(target)
        host, _, port = target.rpartition(":")
        with wire, socket.create_connection((host, int(port))) as other:
            wire.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=_copy, args=(other, wire), daemon=True)
            back.start()
            _copy(wire, other)
            back.join()


def _copy(source, sink):
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def proxy():
    proxy = ConnectProxy()
    yield proxy
    proxy.close()


def review_token(body):
    known = body["spec"]["token"] == "open-sesame"
    return {**body, "status": {"authenticated": known, "user": {"username": "alice"} if known else {}}}


def write(folder, name, text):
    (folder / name).write_text(text)
    return str(folder / name)


def selector(folder, name, proxy):
    return write(folder, "egress.yaml", EGRESS.format(name=name, port=proxy.port))


def issuer_row(issuer, peer, **egress):
    issued = {"url": issuer.url, "audiences": ["kube"], "certificateAuthority": peer.ca_file.read_text(), **egress}
    return {"issuer": issued, "claimMappings": {"username": {"claim": "sub", "prefix": "one:"}}}


def authentication(*rows):
    return json.dumps({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": rows})


def test_the_control_planes_webhooks_and_issuers_are_behind_the_proxy(tmp_path, proxy):
    clock = SystemClock()
    places = {name: tmp_path / name for name in ("authn", "authz", "audit", "oidc", "direct")}
    for place in places.values():
        place.mkdir()
    with Peer(places["authn"]) as authn, Peer(places["authz"]) as authz, Peer(places["audit"]) as audit:
        authn.answers["/review"] = review_token
        authz.answers["/review"] = lambda body: {
            **body,
            "status": {"allowed": body["spec"]["user"] in {"alice", "one:bob"}},
        }
        audit.answers["/events"] = lambda _events: {}
        with Peer(places["oidc"]) as selected, Peer(places["direct"]) as direct:
            bob, carol = OpenIdIssuer(selected, "/one", clock), OpenIdIssuer(direct, "/two", clock)
            rows = issuer_row(bob, selected, egressSelectorType="controlplane"), issuer_row(carol, direct)
            options = {
                "admission-control": ["AlwaysAdmit"],
                "authorization-mode": ["Webhook"],
                "authorization-webhook-config-file": authz.kubeconfig("/review"),
                "authentication-token-webhook-config-file": authn.kubeconfig("/review"),
                "authentication-config": write(tmp_path, "authentication.json", authentication(*rows)),
                "audit-webhook-config-file": audit.kubeconfig("/events"),
                "audit-webhook-mode": "blocking",
                "audit-policy-file": write(tmp_path, "policy.yaml", POLICY),
                "egress-selector-config-file": selector(tmp_path, "controlplane", proxy),
            }
            server = ApiServer(options=options, store=MemoryStore())
            server.start()
            try:
                codes = [
                    _status(server, token)
                    for token in ("open-sesame", bob.token("r", sub="bob"), carol.token("r", sub="carol"))
                ]
            finally:
                server.close()
            addresses = [peer.url.removeprefix("https://") for peer in (authn, authz, audit, selected, direct)]

    assert codes == [200, 200, 403]
    eventually(lambda: set(proxy.targets) == set(addresses[:4]))
    assert direct.asked, "an issuer that selects nothing is asked directly"


def _status(server, token):
    headers = {"host": "x", "authorization": f"Bearer {token}"}
    return server.handler.handle(
        HttpRequest(method="GET", path="/api/v1/namespaces/default/pods", headers=headers)
    ).status


@pytest.mark.etcd
@pytest.mark.slow
def test_etcd_is_behind_the_proxy(tmp_path, proxy):
    need_etcd()
    with running(Etcd(tmp_path)) as (etcd,):
        file = selector(tmp_path, "etcd", proxy)
        server = ApiServerProcess(tmp_path, f"--etcd-servers={etcd.url}", f"--egress-selector-config-file={file}")
        with running(server):
            assert server.post(MAPS, configmap("one", a="b"))[0] == 201
            events = server.watch(f"{MAPS}?watch=1&resourceVersion=0")
            assert next(events)["object"]["data"] == {"a": "b"}

    assert set(proxy.targets) == {etcd.url.removeprefix("http://")}
