"""Port-forward reaches what a pod's own processes listen on, and nothing else of this machine."""

import socket
from pathlib import Path

import pytest

from hyperkube.hookspecs.runtime import RuntimeFailed
from hyperkube.testing.waiting import eventually

SERVER = """exec python3 -c '
import socket
server = socket.create_server(("{address}", 0){options})
print(server.getsockname()[1], flush=True)
while True:
    connection, _ = server.accept()
    connection.sendall(b"pod")
    connection.close()
'"""


def log_of(runtime, container):
    path = Path(runtime.container(container).log_path)
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize(
    ("address", "options"),
    [
        pytest.param("127.0.0.1", "", id="localhost"),
        pytest.param("0.0.0.0", "", id="everywhere"),
        pytest.param("127.77.0.9", "", id="its-own-address"),
        pytest.param("::", ", family=socket.AF_INET6, dualstack_ipv6=True", id="both-families"),
    ],
)
def test_what_a_process_of_the_pod_listens_on_is_reached(runtime, start, address, options):
    sandbox, container = start(SERVER.format(address=address, options=options))
    runtime.assign_addresses(sandbox, ["127.77.0.9"])
    eventually(lambda: "\n" in log_of(runtime, container))
    port = int(log_of(runtime, container).split()[3])

    with socket.socket(fileno=runtime.port_forward(sandbox, port)) as connected:
        connected.settimeout(5)
        assert connected.recv(10) == b"pod"


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "127.77.0.9"])
def test_what_others_listen_on_is_refused(runtime, start, address):
    sandbox, _ = start("sleep 1000")
    runtime.assign_addresses(sandbox, ["127.77.0.9"])

    with socket.create_server((address, 0)) as server, pytest.raises(RuntimeFailed, match="no process of the pod"):
        runtime.port_forward(sandbox, server.getsockname()[1])
