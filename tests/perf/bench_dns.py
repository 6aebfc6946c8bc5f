"""Cluster DNS on real sockets: questions a second and their p99 beside a bare UDP echo, and how soon a Service is known.

The asker is the same for both, one process of its own with so many questions on their way. A Service is created through
an API server in the process of the addon, and asked for until it is there.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import socket
import statistics
import threading
import time
from collections.abc import Iterator

from hyperkube_addon.dns import Dns
from hyperkube_testing.cluster.cluster import ControlPlane
from hyperkube_testing.peers.ports import free_port

from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin import PluginContext
from hyperkube.testing.waiting import eventually

HOST = "127.0.0.1"
WARM, QUESTIONS, ON_THEIR_WAY = 2_000, 20_000, 32
SERVICES_SEEN = 40
DOMAIN = "default.svc.cluster.local"


def question(name: str) -> bytes:
    """Return a question for addresses, as bytes."""
    parts = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return b"\0\0\1\0\0\1\0\0\0\0\0\0" + parts + b"\0\0\1\0\1"


def asked(port: int, wire: bytes, sender: multiprocessing.connection.Connection) -> None:
    """Ask so often, and send on: answers a second, p99 in seconds."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((HOST, port))
        client.settimeout(30)
        for number in (WARM, QUESTIONS):
            sent, times, taken = 0, [0.0] * number, []
            began = time.perf_counter()
            while len(taken) < number:
                while sent < number and sent - len(taken) < ON_THEIR_WAY:
                    times[sent] = time.perf_counter()
                    client.send(sent.to_bytes(2, "big") + wire[2:])
                    sent += 1
                key = int.from_bytes(client.recv(512)[:2], "big")
                taken.append(time.perf_counter() - times[key])
            rate = number / (time.perf_counter() - began)
    sender.send((rate, statistics.quantiles(taken, n=100)[98]))


def measured(port: int, wire: bytes) -> tuple[float, float]:
    """Return answers a second and p99 in seconds, of what listens at a port."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    asker = context.Process(target=asked, args=(port, wire, sender))
    asker.start()
    found: tuple[float, float] = receiver.recv()
    asker.join()
    return found


@contextlib.contextmanager
def echo() -> Iterator[int]:
    """Run what only sends back, on a socket of the standard library, as the server has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((HOST, 0))
        server.settimeout(60)

        def run() -> None:
            while True:
                wire, sender = server.recvfrom(65535)
                if not wire:
                    return
                server.sendto(wire, sender)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ending:
            ending.sendto(b"", server.getsockname())
        thread.join()


def answers(port: int, wire: bytes) -> bool:
    """Tell whether a server listens, and knows the name."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((HOST, port))
        client.settimeout(1)
        try:
            client.send(wire)
            return client.recv(512)[3] & 15 == 0
        except OSError:
            return False


def seconds_until_seen(cluster: ControlPlane, port: int) -> list[float]:
    """Create Services one by one; return how long each was not known by its name."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((HOST, port))
        client.settimeout(30)
        for number in range(SERVICES_SEEN):
            name = f"seen-{number}"
            wire = question(f"{name}.{DOMAIN}")
            made = {"metadata": {"name": name, "namespace": "default"}, "spec": {"ports": [{"port": 80}]}}
            cluster.client.create(SERVICES, made, "default")
            began = time.perf_counter()
            while True:
                client.send(wire)
                if client.recv(512)[3] & 15 == 0:
                    break
                time.sleep(0.001)
            found.append(time.perf_counter() - began)
    return found


def main() -> None:
    """Print one line of JSON."""
    clock = SystemClock()
    with ControlPlane() as cluster:
        informers = InformerFactory(cluster.client, clock)
        port = free_port()
        settings = {"address": HOST, "port": port, "upstreams": [f"{HOST}:1"]}
        context = PluginContext(name="dns", client=cluster.client, clock=clock, informers=informers, settings=settings)
        addon = Dns(context)
        informers.start()
        thread = threading.Thread(target=addon.addon_start, daemon=True)
        thread.start()
        wire = question(f"kubernetes.{DOMAIN}")
        eventually(lambda: answers(port, wire))
        with echo() as bare:
            rows = [(measured(bare, wire), measured(port, wire)) for _ in range(3)]
        seen = seconds_until_seen(cluster, port)
        addon.close()
        thread.join(10)
        informers.stop()
    best = [max(row[who] for row in rows) for who in (0, 1)]
    told = {
        "echo": {"answers/s": round(best[0][0]), "p99 ms": round(best[0][1] * 1e3, 2)},
        "dns": {"answers/s": round(best[1][0]), "p99 ms": round(best[1][1] * 1e3, 2)},
        "seen ms": {"median": round(statistics.median(seen) * 1e3, 1), "most": round(max(seen) * 1e3, 1)},
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
