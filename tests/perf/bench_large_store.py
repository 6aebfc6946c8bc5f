"""What a large store costs: the start of an API server on 200,000 objects, its memory, and its rates beside a small one.

Run by hand: ``.venv/bin/python tests/perf/bench_large_store.py --store FOLDER``. The store is made once and kept in FOLDER:
one object of each kind goes through the API, its copies go straight into the file, as the storage plugin writes them. Each
round starts an API server on it and waits for its first 200 on ``/readyz``, reads every resource once, and asks it and
one with a hundredth of the objects the same in turns: rates are shares of the small one's. The pace is that of
`servers_under_load`. Nothing here fails; what must hold is printed beside what was measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import orjson
from api_requests import pod  # type: ignore[import-not-found]  # beside this file, not a package
from hyperkube_storage.sqlite import SqliteStore
from hyperkube_testing.peers.ports import free_port
from servers_under_load import (  # type: ignore[import-not-found]  # the same
    TOKEN,
    Ask,
    Served,
    api_server,
    pace,
    running,
    wrk,
)

from hyperkube.storage.store import Put

OBJECTS, SMALL = 200_000, 100
"""Objects of the large store, and how many times fewer the small one has."""
NAMESPACES, PODS_OF_A_NODE = 50, 50
WATCHED = "one"
"""The namespace that is asked for, with as many objects in both stores."""
NEIGHBOURS = 100
MUST_START, MUST_RSS, MUST_SHARE = 6.0, 900.0, 0.8
EVENTS = 16_000


class Kind(NamedTuple):
    """Objects of one kind: where they are asked for, where they are stored, which share of all they are."""

    path: str
    prefix: str
    share: float
    template: dict[str, Any]


def _definition(plural: str, kind: str) -> dict[str, Any]:
    fields = {"size": {"type": "integer", "default": 1}, "image": {"type": "string"}, "mode": {"type": "string"}}
    spec = {"type": "object", "properties": {**fields, "tags": {"type": "array", "items": {"type": "string"}}}}
    schema = {
        "type": "object",
        "properties": {"spec": spec, "status": {"type": "object", "properties": {"phase": {"type": "string"}}}},
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {"plural": plural, "singular": kind.lower(), "kind": kind}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.bench.example"},
        "spec": {"group": "bench.example", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def _custom(kind: str) -> dict[str, Any]:
    spec = {"size": 3, "image": "registry.example/app:1.2.3", "mode": "fast", "tags": [f"tag-{n}" for n in range(20)]}
    return {"apiVersion": "bench.example/v1", "kind": kind, "metadata": {"labels": {"app": "bench"}}, "spec": spec}


_RUNNING = {
    "phase": "Running",
    "podIP": "10.0.0.1",
    "podIPs": [{"ip": "10.0.0.1"}],
    "hostIP": "192.0.2.1",
    "startTime": "2026-01-01T00:00:00Z",
    "conditions": [
        {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready", "PodReadyToStartContainers")
    ],
    "containerStatuses": [
        {
            "name": "app",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "image": "registry.example/app:1.2.3",
            "imageID": f"registry.example/app@sha256:{'0' * 64}",
            "containerID": f"containerd://{'0' * 64}",
            "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
        }
    ],
}
_KINDS = (
    Kind("/api/v1/{}/pods", "/registry/pods/", 0.25, pod("")),
    Kind("/api/v1/{}/secrets", "/registry/secrets/", 0.25, {"metadata": {}, "stringData": {"k": "x" * 600}}),
    Kind("/api/v1/{}/configmaps", "/registry/configmaps/", 0.25, {"metadata": {}, "data": {"k": "x" * 800}}),
    Kind("/apis/bench.example/v1/{}/widgets", "/registry/bench.example/widgets/", 0.125, _custom("Widget")),
    Kind("/apis/bench.example/v1/{}/gadgets", "/registry/bench.example/gadgets/", 0.125, _custom("Gadget")),
)


def _template(server: Served, kind: Kind) -> None:
    """Create the object that the others are copies of.

    Raises:
        RuntimeError: it is refused.
    """
    path = kind.path.format(f"namespaces/{WATCHED}")
    body = {**kind.template, "metadata": {**kind.template["metadata"], "name": "first"}}
    if "pods" in path:
        body["spec"]["nodeName"] = "node-0000"
    status, answer = server.send("POST", path, body)
    while status == 404:  # a custom resource is served a moment after its definition
        time.sleep(0.1)
        status, answer = server.send("POST", path, body)
    if status == 201 and "pods" in path:
        made = json.loads(answer)
        status, answer = server.send("PUT", f"{path}/first/status", {**made, "status": _RUNNING})
    if status not in {200, 201}:
        raise RuntimeError(answer)


def make(folder: Path, objects: int) -> None:
    """Make the store in a folder, unless it is there."""
    if (folder / "made").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    with running(api_server(folder, port), port, "/readyz") as server:
        for name in (WATCHED, *(f"ns-{number}" for number in range(NAMESPACES))):
            server.send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        server.send("POST", f"/api/v1/namespaces/{WATCHED}/serviceaccounts", {"metadata": {"name": "default"}})
        for plural, kind in (("widgets", "Widget"), ("gadgets", "Gadget")):
            server.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", _definition(plural, kind))
        for kind in _KINDS:
            _template(server, kind)
    with closing(SqliteStore(folder / "data" / "storage.db")) as store:
        for kind in _KINDS:
            first = store.get(f"{kind.prefix}{WATCHED}/first")
            assert first is not None
            _copy(store, kind, first.value, int(objects * kind.share))
    (folder / "made").touch()


def _copy(store: SqliteStore, kind: Kind, value: bytes, count: int) -> None:
    """Put copies of an object beside it: some in its namespace, the others spread."""
    puts: list[Put] = []
    for number in range(count):
        namespace = WATCHED if number < NEIGHBOURS else f"ns-{number % NAMESPACES}"
        obj = orjson.loads(value)
        obj["metadata"] |= {"name": f"obj-{number:06}", "namespace": namespace, "uid": str(uuid4())}
        if "nodeName" in obj.get("spec", {}):
            obj["spec"]["nodeName"] = f"node-{number % (count // PODS_OF_A_NODE):04}"
        puts.append(Put(f"{kind.prefix}{namespace}/obj-{number:06}", orjson.dumps(obj)))
        if len(puts) == 1000 or number == count - 1:
            store.txn([], puts)
            puts = []


class Start(NamedTuple):
    """One start: seconds to the first 200 on ``/readyz``, its CPU seconds, MiB of resident memory."""

    seconds: float
    cpu: float
    memory: float


@contextmanager
def started(folder: Path) -> Iterator[tuple[Served, Start]]:
    """Start an API server on a store."""
    port, begun = free_port(), time.monotonic()
    with running(api_server(folder, port), port, "/readyz") as server:
        yield server, Start(time.monotonic() - begun, server.cpu(), server.memory()[0])


def first_lists(server: Served) -> None:
    """Read every resource once; print what that took."""
    for kind in _KINDS:
        begun, used = time.monotonic(), server.cpu()
        size = len(server.send("GET", kind.path.format("").replace("//", "/") + "?limit=1")[1])
        took = f"{time.monotonic() - begun:.2f} s, {server.cpu() - used:.2f} s CPU"
        print(f"  first list of {kind.prefix}: {took} ({size} bytes); {server.memory()[0]:.0f} MiB RSS", flush=True)


ASKS = {
    "GET pod": Ask(f"/api/v1/namespaces/{WATCHED}/pods/obj-000042"),
    "GET custom": Ask(f"/apis/bench.example/v1/namespaces/{WATCHED}/widgets/obj-000042"),
    "LIST pods of a namespace": Ask(f"/api/v1/namespaces/{WATCHED}/pods"),
    "LIST pods of a node": Ask("/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-0005"),
    "LIST config maps, limit=500": Ask("/api/v1/configmaps?limit=500"),
}


def shares(large: Served, small: Served, rounds: int) -> None:
    """Print rates of the large store as shares of the small one's, asked in turns."""
    for name, ask in ASKS.items():
        turns = [(large.load(ask, 2), small.load(ask, 2)) for _ in range(rounds)]
        rate = statistics.median(one.rate / other.rate for one, other in turns)
        cpu = statistics.median(one.cpu / other.cpu for one, other in turns)
        rates = [statistics.median(each[place].rate for each in turns) for place in (0, 1)]
        print(f"{name}: {rates[0]:,.0f}/s of {rates[1]:,.0f}/s: {rate:.2f} of the rate, {cpu:.2f} of the CPU"
              f" (must {MUST_SHARE})", flush=True)  # fmt: skip
    turns_of_watches = [(events_cpu(large), events_cpu(small)) for _ in range(rounds)]
    cpu = statistics.median(one / other for one, other in turns_of_watches)
    print(f"events of config maps to 20 watches: {cpu:.2f} of the CPU (must {1 / MUST_SHARE})")


def events_cpu(server: Served) -> float:
    """Return the CPU microseconds of a write that 20 watches hear of."""
    path = f"/api/v1/namespaces/{WATCHED}/configmaps"
    connections = []
    for _ in range(20):
        connection = server.connect()
        connection.request("GET", f"{path}?watch=1&resourceVersion=0", headers=_headers())
        connections.append(connection.getresponse())
    writer = server.connect()
    time.sleep(0.5)
    before = server.cpu()
    for number in range(EVENTS // 20):
        body = json.dumps({"data": {"n": f"{time.monotonic_ns()}-{number}"}})
        writer.request("PATCH", f"{path}/obj-000042", body, _headers("application/merge-patch+json"))
        writer.getresponse().read()
    spent = server.cpu() - before
    for answer in connections:
        answer.close()
    return spent / (EVENTS // 20) * 1e6


def _headers(media: str = "application/json") -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKEN}", "Content-Type": media}


def main(arguments: list[str]) -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description="Measure an API server on a large store.")
    parser.add_argument("--store", type=Path, required=True, help="a folder that keeps the stores between runs")
    parser.add_argument("--objects", type=int, default=OBJECTS, help="of the large store (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is asked; medians are shown")
    parser.add_argument("--only-start", action="store_true", help="measure no rates")
    given = parser.parse_args(arguments)
    large, small = given.store / f"large-{given.objects}", given.store / f"small-{given.objects // SMALL}"
    make(large, given.objects)
    make(small, given.objects // SMALL)
    print(f"pace {pace():.2f} s; the file has {(large / 'data' / 'storage.db').stat().st_size / 2**20:.0f} MiB")
    found: list[Start] = []
    for _ in range(given.rounds):
        with started(large) as (_, start):
            found.append(start)
    seconds, cpu, memory = (statistics.median(column) for column in zip(*found, strict=True))
    print(f"start on {given.objects:,} objects: {seconds:.2f} s (must {MUST_START}), {cpu:.2f} s CPU, "
          f"{memory:.0f} MiB RSS when ready; pace {pace():.2f} s", flush=True)  # fmt: skip
    with started(large) as (server, _), started(small) as (other, start):
        print(f"  the small store's: {start.seconds:.2f} s, {start.cpu:.2f} s CPU, {start.memory:.0f} MiB")
        first_lists(server)
        print(f"all read: {server.memory()[0]:.0f} MiB RSS (must {MUST_RSS})")
        if not given.only_start:
            wrk()
            shares(server, other, given.rounds)
            print(f"afterwards: {server.memory()[0]:.0f} MiB RSS")


if __name__ == "__main__":
    main(sys.argv[1:])
