"""Sandboxes with network namespaces, and processes alone in theirs."""

import os
import socket
from pathlib import Path

import pytest

from hyperkube.hookspecs.network import MakesNetworkNamespaces
from hyperkube.hookspecs.runtime import HasNetworkNamespaces, RuntimeFailed
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.waiting import eventually

ALONE = {"namespace_options": {"pid": "CONTAINER"}}
HOST = {"namespace_options": {"network": "NODE", "pid": "CONTAINER"}}
PYTHON_SERVER = (
    "import socket; s = socket.create_server(('127.0.0.1', 8080)); c, _ = s.accept(); c.sendall(b'from inside')"
)


@pytest.fixture
def isolated(runtime):
    try:
        runtime.make_network_namespaces()
    except UsageError as error:
        pytest.skip(str(error))
    return runtime


def test_it_makes_them_when_it_is_told_to(runtime):
    assert isinstance(runtime, HasNetworkNamespaces)
    assert isinstance(runtime, MakesNetworkNamespaces)


def test_without_root_that_is_refused_in_one_line(runtime, monkeypatch):
    def refuse(_flags):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("hyperkube_runtime.process.shim.kernel.unshare", refuse)

    with pytest.raises(UsageError) as caught:
        runtime.make_network_namespaces()
    assert str(caught.value) == (
        "pods in network namespaces need root: Operation not permitted; use --network-plugin=loopback"
    )


def test_a_container_is_in_the_namespace_of_its_sandbox(isolated, start, run):
    outcome = run("readlink /proc/self/ns/net; ls /sys/class/net >/dev/null; cat /proc/net/dev | wc -l", security=ALONE)
    net, interfaces = outcome.output.splitlines()
    namespace = isolated.network_namespace(outcome.status.sandbox_id)

    assert net == f"net:[{Path(namespace).stat().st_ino}]"
    assert int(interfaces) < len(Path("/proc/net/dev").read_text().splitlines()) or interfaces == "3"

    isolated.stop_sandbox(outcome.status.sandbox_id)
    assert isolated.network_namespace(outcome.status.sandbox_id) == ""
    assert not Path(namespace).exists()


def test_on_the_network_of_the_node_it_is_not(isolated, run):
    sandbox = run("true", security=HOST).status.sandbox_id
    config = {
        "metadata": {"namespace": "d", "name": "h", "uid": "h"},
        "linux": {"security_context": HOST},
    }
    on_host = isolated.run_sandbox(config, "")

    assert isolated.network_namespace(sandbox)
    assert isolated.network_namespace(on_host) == ""
    assert next(one for one in isolated.sandboxes() if one.id == on_host).host_network


def test_its_processes_are_alone_and_commands_join_them(isolated, start):
    _, container = start("exec sleep 600", security=ALONE)
    # The commands run beside process 1, see it, and are gone with it.
    process = isolated.exec(
        container, ["sh", "-c", "cat /proc/1/comm; echo $$; ls -d /proc/[0-9]*"], stdin=False, tty=False
    )
    said = b""
    while chunk := os.read(process.stdout, 4096):
        said += chunk
    for descriptor in (process.stdout, process.stderr):
        os.close(descriptor)

    assert process.wait(60) == 0
    comm, pid, *seen = said.decode().split()
    assert comm == "sleep"
    assert int(pid) < 50
    assert len(seen) <= 4

    isolated.stop_container(container, 0)
    eventually(lambda: isolated.container(container).state == "exited")
    assert isolated.container(container).exit_code == 137


def test_a_port_is_connected_to_inside(isolated, start):
    sandbox, _ = start(f'ip link set lo up; exec python3 -c "{PYTHON_SERVER}"', security=ALONE)

    def connect():
        try:
            return isolated.port_forward(sandbox, 8080)
        except RuntimeFailed:
            return None  # nobody listens yet

    with socket.socket(fileno=eventually(connect)) as connection:
        connection.setblocking(True)
        assert connection.recv(100) == b"from inside"
