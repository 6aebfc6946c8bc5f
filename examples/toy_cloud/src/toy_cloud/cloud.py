"""A cloud in one process: ``python -m toy_cloud.cloud`` serves its API, and its load balancers relay for real.

A machine is a row in a table; a balancer listens at an address of the cloud's own and passes connections on to the
node ports of its targets in turn::

    GET /machines, GET|PUT|DELETE /machines/NAME     {"zone", "type", "address", "state": "running" | "off"}
    GET /balancers, GET|PUT|DELETE /balancers/NAME   {"ports": [{"port", "node_port"}], "targets": [address …]}

An answer is JSON, and an error ``{"error": "…"}`` with HTTP's status; PUT replaces what is there.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Thing = dict[str, Any]
KINDS = ("machines", "balancers")
PREFIX = "127.83.0."
"""Balancers' addresses: loopback ones, which only this machine reaches."""


class Relay:
    """Listens at one port of a balancer and passes each connection on to the next target that answers."""

    def __init__(self, address: str, port: int, node_port: int, targets: list[str]) -> None:
        self._node_port, self._targets = node_port, itertools.cycle(targets) if targets else iter(())
        self._count = len(targets)
        self._listener = socket.create_server((address, port))
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Listen no longer; connections that are open go on."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            for _ in range(self._count):
                with contextlib.suppress(OSError):
                    target = socket.create_connection((next(self._targets), self._node_port), timeout=3)
                    target.settimeout(None)
                    with target:
                        back = threading.Thread(target=_copy, args=(target, client), daemon=True)
                        back.start()
                        _copy(client, target)
                        back.join()
                    return


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


class Cloud:
    """What the cloud has; `listen` says whether balancers relay."""

    def __init__(self, *, listen: bool = True) -> None:
        self._lock = threading.Lock()
        self._things: dict[str, dict[str, Thing]] = {kind: {} for kind in KINDS}
        self._relays: dict[str, list[Relay]] = {}
        self._listen = listen

    def list(self, kind: str) -> list[Thing]:
        """Return all things of a kind."""
        with self._lock:
            return list(self._things[kind].values())

    def get(self, kind: str, name: str) -> Thing | None:
        """Return a thing, None if there is none."""
        with self._lock:
            return self._things[kind].get(name)

    def put(self, kind: str, name: str, told: Thing) -> Thing:
        """Make a thing, or replace it; a balancer keeps its address."""
        with self._lock:
            things = self._things[kind]
            held = things.get(name, {})
            if kind == "machines":
                made = {"state": "running", "zone": "", "type": "toy.small", "address": "", **told, "name": name}
            else:
                made = {
                    "ports": [],
                    "targets": [],
                    **told,
                    "name": name,
                    "address": held.get("address") or self._free(),
                }
                self._relay(name, made)
            things[name] = made
            return made

    def delete(self, kind: str, name: str) -> bool:
        """Delete a thing; return whether there was one."""
        with self._lock:
            if kind == "balancers":
                self._relay(name, {"ports": []})
            return self._things[kind].pop(name, None) is not None

    def close(self) -> None:
        """Let no balancer listen."""
        for each in self.list("balancers"):
            self.delete("balancers", each["name"])

    def _free(self) -> str:
        taken = {each["address"] for each in self._things["balancers"].values()}
        return next(f"{PREFIX}{last}" for last in range(1, 255) if f"{PREFIX}{last}" not in taken)

    def _relay(self, name: str, balancer: Thing) -> None:
        for each in self._relays.pop(name, []):
            each.close()
        if self._listen:
            self._relays[name] = [
                Relay(balancer["address"], row["port"], row["node_port"], balancer["targets"])
                for row in balancer["ports"]
            ]


class Handler(BaseHTTPRequestHandler):
    """The API; the server's `cloud` is what it serves."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """List a kind, or return one thing."""
        kind, name = self._place()
        found: Any = (
            self.server.cloud.list(kind) if not name and kind else self.server.cloud.get(kind, name) if kind else None
        )
        self._say(
            *((404, {"error": f"there is no {self.path}"}) if found is None else (200, _shown(kind, name, found)))
        )

    def do_PUT(self) -> None:
        """Make a thing, or replace it."""
        kind, name = self._place()
        try:
            told = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            self._say(200, self.server.cloud.put(kind, name, told))
        except (ValueError, KeyError, TypeError, OSError) as error:
            self._say(400, {"error": f"{type(error).__name__}: {error}"})

    def do_DELETE(self) -> None:
        """Delete a thing."""
        kind, name = self._place()
        gone = bool(kind) and self.server.cloud.delete(kind, name)
        self._say(200 if gone else 404, {} if gone else {"error": f"there is no {self.path}"})

    def _place(self) -> tuple[str, str]:
        kind, _, name = self.path.strip("/").partition("/")
        return (kind, name) if kind in KINDS else ("", "")

    def _say(self, status: int, content: Thing) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


def _shown(kind: str, name: str, found: Any) -> Thing:
    thing: Thing = found if name else {kind: found}
    return thing


class Server(ThreadingHTTPServer):
    """Serves one cloud."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], cloud: Cloud) -> None:
        self.cloud = cloud
        super().__init__(address, Handler)


@contextlib.contextmanager
def serving(cloud: Cloud, port: int = 0) -> Iterator[str]:
    """Serve a cloud on loopback for the length of a block; give its URL."""
    with Server(("127.0.0.1", port), cloud) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
            cloud.close()


def main() -> None:
    """Serve until it is ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=7780)
    with Server(("127.0.0.1", parser.parse_args().port), Cloud()) as server, contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
