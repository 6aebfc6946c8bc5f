"""What a watch, and an idle connection, cost an API server in memory, over TLS.

Run by hand: ``.venv/bin/python tests/perf/bench_watch_memory.py [WATCHES]``. A server with nothing in it gets so many
watches of pods, each of its own node as kubelets open them, and then so many connections that have sent one request.
"""

from __future__ import annotations

import socket
import ssl
import sys
import tempfile
import time
from pathlib import Path

from scale import servers
from servers_under_load import TOKEN

COUNT, FIRST = 500, 20
REST_SECONDS = 35.0
"""Until the server has given back what the opening took: it does so every thirty seconds."""
WATCH = "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=3000&fieldSelector=spec.nodeName%3Dnode-{}"


def opened(port: int, path: str, count: int) -> list[ssl.SSLSocket]:
    """Return connections that have sent a request each, and got the beginning of its answer."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    found = []
    for number in range(count):
        connection = context.wrap_socket(socket.create_connection(("127.0.0.1", port)))
        head = f"GET {path.format(number)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        connection.sendall(head.encode())
        connection.recv(1000)
        found.append(connection)
    return found


def main(count: int) -> None:
    """Print KiB of each."""
    with tempfile.TemporaryDirectory() as folder, servers.running(Path(folder), servers.Wanted(0)) as cluster:
        port, pid = int(cluster.urls[0].rpartition(":")[2]), cluster.pids["apiserver"]

        def rested() -> int:
            time.sleep(REST_SECONDS)
            return servers.usage(pid).resident

        held = opened(port, WATCH, FIRST)
        before = rested()
        for what, path in (("watch", WATCH), ("idle connection", "/healthz")):
            held += opened(port, path, count)
            after = rested()
            print(f"{what}: {(after - before) / count / 1024:.1f} KiB")
            before = after
        for connection in held:
            connection.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
