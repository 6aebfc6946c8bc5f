"""What reading and writing events costs an API server, which keeps them in the store alone, beside one that caches them.

Run by hand: ``.venv/bin/python tests/perf/bench_events.py [--programs FOLDER] [--rounds N]``. Servers on copies of one
store are asked the same in turns, one request after another: this one, this one with ``--watch-cache-sizes=events#1000``,
and with ``--programs`` another one's ``hyperkube``. Printed is the CPU of a request in microseconds, the median of the
rounds; *first* reads are of what was not read before. Nothing here fails.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import orjson
from hyperkube_storage.sqlite import SqliteStore
from hyperkube_testing.peers.ports import free_port
from servers_under_load import BIN, TOKEN, Served, api_server, running  # type: ignore[import-not-found]  # beside it

from hyperkube.storage.store import Put

EVENTS, NAMESPACES, SMALL = 4000, 60, 500
"""Events of the namespace `BUSY`, and how many others have how many each."""
BUSY, UNREAD = "one", f"ns-{NAMESPACES - 2}"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
_OF_POD = "fieldSelector=involvedObject.name%3Dpod-0007,involvedObject.namespace%3Done,involvedObject.kind%3DPod"


def event(number: int, namespace: str) -> dict[str, Any]:
    """Return an event as a kubelet writes it."""
    pod = f"pod-{number % 1000:04}"
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": f"{pod}.{number:016x}", "namespace": namespace},
        "involvedObject": {
            "kind": "Pod", "namespace": namespace, "name": pod, "uid": str(uuid4()), "apiVersion": "v1",
            "resourceVersion": "123", "fieldPath": "spec.containers{web}",
        },
        "reason": "Pulled",
        "message": 'Container image "registry.example/team/app:1.2.3" already present on machine',
        "source": {"component": "kubelet", "host": "node-0001"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 1,
        "type": "Normal",
        "reportingComponent": "kubelet",
        "reportingInstance": "node-0001",
    }  # fmt: skip


class Client:
    """One connection that is kept."""

    def __init__(self, server: Served) -> None:
        self._connection = server.connect()

    def ask(self, path: str, accept: str = "application/json", body: object = None) -> bytes:
        """Make a request and return its answer.

        Raises:
            RuntimeError: it failed.
        """
        headers = {"Authorization": f"Bearer {TOKEN}", "Accept": accept, "Content-Type": "application/json"}
        method, sent = ("GET", None) if body is None else ("POST", json.dumps(body))
        self._connection.request(method, path, sent, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise RuntimeError(content)
        return content


def seed(folder: Path) -> None:
    """Make a store with the events: the first through the API, the others as it was stored."""
    port = free_port()
    with running(api_server(folder, port), port, "/readyz") as server:
        for name in (BUSY, *(f"ns-{number}" for number in range(NAMESPACES))):
            server.send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        status, answer = server.send("POST", f"/api/v1/namespaces/{BUSY}/events", event(0, BUSY))
        if status != 201:
            raise RuntimeError(answer)
    with closing(SqliteStore(folder / "data/storage.db")) as store:
        first = store.range(f"/registry/events/{BUSY}/", f"/registry/events/{BUSY}0").items[0]
        stored = orjson.loads(first.value)
        for namespace, count in ((BUSY, EVENTS), *((f"ns-{number}", SMALL) for number in range(NAMESPACES))):
            puts = []
            for number in range(1, count):
                made = event(number, namespace)
                meta = {**stored["metadata"], **made["metadata"], "uid": str(uuid4())}
                value = orjson.dumps({**stored, **made, "metadata": meta})
                puts.append(Put(f"/registry/events/{namespace}/{meta['name']}", value))
            store.txn([], puts)


Turn = Callable[[Client, int], int]
"""Makes some requests, each time other ones of its number; returns how many it made."""


def _repeated(path: str, times: int, accept: str = "application/json") -> Turn:
    def turn(client: Client, _round: int) -> int:
        for _ in range(times):
            client.ask(path, accept)
        return times

    return turn


def _first_lists(client: Client, number: int) -> int:
    for place in range(10 * number, 10 * number + 10):
        client.ask(f"/api/v1/namespaces/ns-{place}/events?limit=500")
    return 10


def _first_gets(client: Client, number: int) -> int:
    for place in range(200):
        client.ask(
            f"/api/v1/namespaces/ns-{NAMESPACES - 1}/events/{event(200 * number % 400 + place + 1, '')['metadata']['name']}"
        )
    return 200


def _creates(client: Client, number: int) -> int:
    for place in range(200):
        client.ask(f"/api/v1/namespaces/{UNREAD}/events", body=event(1_000_000 + 200 * number + place, UNREAD))
    return 200


def _creates_beside_lists(client: Client, number: int) -> int:
    client.ask(f"/api/v1/namespaces/{BUSY}/events?limit=500")
    for place in range(200):
        client.ask(f"/api/v1/namespaces/{BUSY}/events", body=event(2_000_000 + 200 * number + place, BUSY))
    return 200


ROWS: dict[str, Turn] = {
    "LIST limit=500, first": _first_lists,
    "GET, first": _first_gets,
    "GET": _repeated(f"/api/v1/namespaces/{BUSY}/events/pod-0007.{7:016x}", 400),
    "LIST limit=500": _repeated(f"/api/v1/namespaces/{BUSY}/events?limit=500", 40),
    "LIST limit=500, Table": _repeated(f"/api/v1/namespaces/{BUSY}/events?limit=500", 20, TABLE),
    "LIST limit=500, protobuf": _repeated(f"/api/v1/namespaces/{BUSY}/events?limit=500", 20, PROTOBUF),
    "LIST of 4,000": _repeated(f"/api/v1/namespaces/{BUSY}/events", 10),
    "LIST of one pod's among 4,000": _repeated(f"/api/v1/namespaces/{BUSY}/events?{_OF_POD}&limit=500", 15),
    "create": _creates,
    "create in what is listed": _creates_beside_lists,
}


def compare(programs: Path | None, rounds: int) -> None:
    """Print a table of all servers."""
    with ExitStack() as stack:
        seeded = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        seed(seeded)
        kinds: dict[str, tuple[Path, list[str]]] = {
            "this": (BIN, []),
            "cached": (BIN, ["--watch-cache-sizes=events#1000"]),
        }
        if programs is not None:
            kinds["other"] = (programs, [])
        servers: dict[str, Served] = {}
        for name, (where, flags) in kinds.items():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            shutil.copytree(seeded, folder, dirs_exist_ok=True)
            port = free_port()
            servers[name] = stack.enter_context(running([*api_server(folder, port, where), *flags], port, "/readyz"))
        Client(servers["cached"]).ask(f"/api/v1/namespaces/{BUSY}/events?limit=1")  # which is when a cache is filled
        found: dict[tuple[str, str], list[float]] = defaultdict(list)
        for number in range(rounds):
            for row, turn in ROWS.items():
                for name, server in servers.items():
                    client, before = Client(server), server.cpu()
                    client.ask("/readyz")
                    count = turn(client, number)
                    found[row, name].append((server.cpu() - before) / count * 1e6)
        print(f"{'':32}" + "".join(f"{name:>10}" for name in servers))
        for row in ROWS:
            print(f"{row:32}" + "".join(f"{median(found[row, name]):10,.0f}" for name in servers))
        print(f"{'MiB resident':32}" + "".join(f"{server.memory()[0]:10,.0f}" for server in servers.values()))


def main(arguments: list[str]) -> None:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(description="Measure what events cost.")
    parser.add_argument("--programs", type=Path, help="where another hyperkube is")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is asked (default 3, at most 5)")
    given = parser.parse_args(arguments)
    compare(given.programs, given.rounds)


if __name__ == "__main__":
    main(sys.argv[1:])
