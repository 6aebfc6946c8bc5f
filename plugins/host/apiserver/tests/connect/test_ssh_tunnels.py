"""The SSH tunneler, against Debian's sshd where that is installed."""

import os
import shutil
import socket
import subprocess
import threading
from random import Random

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.serving.ssh_tunnels import SshTunnels, build_tunnels

from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

NODE = "127.77.0.22"
"""Of loopback: port 22 is free there, and nobody else's."""
SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
needs_sshd = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access(SSHD, os.X_OK) or shutil.which("ssh") is None, reason="needs root, ssh and sshd"
)


def build(ssh_user="core", ssh_keyfile="", kubelet_port=10250):
    return build_tunnels(ssh_user, ssh_keyfile, kubelet_port, Random(1))


def test_without_a_user_there_are_none():
    assert build(ssh_user="") is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kubelet_port": 0}, r"Must enable kubelet port if proxy ssh-tunneling is specified\."),
        ({"ssh_keyfile": "/no/such/key"}, "--ssh-keyfile=/no/such/key does not exist"),
    ],
)
def test_what_cannot_work_ends_the_start(changes, message):
    with pytest.raises(UsageError, match=message):
        build(**changes)


@pytest.fixture
def ssh(tmp_path):
    """An sshd on a node's address and a key that it takes."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    (tmp_path / "config").write_text(
        f"ListenAddress {NODE}:22\nHostKey {tmp_path}/host\nPidFile none\nUsePAM no\nStrictModes no\n"
        f"AuthorizedKeysFile {tmp_path}/user.pub\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
    )
    os.makedirs("/run/sshd", exist_ok=True)  # noqa: PTH103  where sshd locks itself in
    server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(tmp_path / "config")], stderr=subprocess.DEVNULL)
    tunnels = SshTunnels("root", str(tmp_path / "user"), Random(1))
    try:
        eventually(lambda: _listens(NODE, 22), why="sshd listens")
        yield tunnels
    finally:
        tunnels.close()
        server.terminate()
        server.wait(30)


def _listens(host, port):
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0


@pytest.fixture
def echo():
    """A server that sends back what it gets, once."""
    with socket.create_server(("127.77.0.23", 0)) as listener:

        def serve():
            for _ in range(2):
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(connection.recv(64).upper())

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()


@needs_sshd
def test_what_a_node_reaches_is_reached_through_it(ssh, echo):
    for _ in range(2):
        with ssh.dial([NODE], *echo) as way:
            way.settimeout(60)
            way.sendall(b"hello")
            assert way.recv(64) == b"HELLO"

    assert (ssh.opened, ssh.failed) == (2, 0)


@needs_sshd
def test_a_way_that_leads_nowhere_is_counted(ssh):
    with ssh.dial([NODE], "127.77.0.24", 1) as way:
        way.settimeout(60)
        assert way.recv(64) == b""

    eventually(lambda: (ssh.reap(), ssh.failed)[1])
    assert b"ssh_tunnel_open_count 1\n" in ssh.metrics()
    assert b"ssh_tunnel_open_fail_count 1\n" in ssh.metrics()


def test_without_nodes_there_is_no_way(tmp_path):
    tunnels = SshTunnels("root", str(tmp_path / "key"), Random(1))

    with pytest.raises(OSError, match="No SSH tunnels currently open"):
        tunnels.dial([], "10.0.0.1", 80)
    tunnels.close()


@pytest.mark.skipif(shutil.which("ssh") is None, reason="needs ssh")
def test_kubelets_and_pods_are_reached_through_nodes(tmp_path, monkeypatch):
    pytest.importorskip("hyperkube_api.core", reason="needs the API groups")
    key = tmp_path / "key"
    key.touch()
    given = {"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}
    server = ApiServer(options={**given, "ssh-user": "core", "ssh-keyfile": str(key)}, store=MemoryStore())
    seen = []
    monkeypatch.setattr(SshTunnels, "dial", lambda _self, nodes, host, port: seen.append((list(nodes), host, port)))
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

    assert seen == [(["192.0.2.1"], "192.0.2.1", 10250), (["192.0.2.1"], "10.0.0.7", 8080)]
