"""What a list of all pods of a large cluster does to everyone else: renewals of leases beside it, and the server's peak.

Run by hand: ``.venv/bin/python tests/perf/bench_large_lists.py --store FOLDER [--against FOLDER_OF_PROGRAMS]``. The store
is made once and kept in FOLDER, as `bench_large_store` makes its own. Leases are renewed at a steady rate, each at its
time whether those before were answered or not; after some seconds without any, a list of all pods is asked for every
two seconds, in each form. With another state's programs both servers run, and have their turns in the same minutes.
Printed are, of the renewals, the medians and 99th percentiles in milliseconds from when each was due, the most resident
memory, and the CPU of a list. Nothing here fails.
"""

from __future__ import annotations

import argparse
import http.client
import json
import shutil
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from bench_large_store import _KINDS, WATCHED, _copy, _template  # type: ignore[import-not-found]  # beside this file
from hyperkube_storage.sqlite import SqliteStore
from hyperkube_testing.peers.ports import free_port
from servers_under_load import (  # type: ignore[import-not-found]  # the same
    BIN,
    TOKEN,
    Served,
    api_server,
    pace,
    running,
)

PODS, RATE, EVERY = 30_000, 100, 2.0
LEASES = 10 * RATE
"""Enough for none to be renewed again before it was answered."""
SENDERS = 24
REST = 150.0
"""Seconds after which what rests is packed."""
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
PROTOBUF = "application/vnd.kubernetes.protobuf"
FORMS = {
    "none": (),
    "JSON, gzipped": ("Accept: application/json", "Accept-Encoding: gzip"),
    "JSON": ("Accept: application/json",),
    "protobuf": (f"Accept: {PROTOBUF}",),
    "metadata": ("Accept: application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList",),
    "table": ("Accept: application/json;g=meta.k8s.io;v=v1;as=Table",),
    "indented": ("Accept: application/json", "User-Agent: curl"),
    "YAML": ("Accept: application/yaml",),
}


class Found(NamedTuple):
    """Of one turn: milliseconds of renewals, MiB, CPU seconds a list took, and how long."""

    p50: float
    p99: float
    most: float
    peak: float
    cpu: float
    seconds: float


def make(folder: Path, pods: int) -> None:
    """Make the store in a folder, unless it is there."""
    if (folder / "made").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    port, kind = free_port(), _KINDS[0]
    with running(api_server(folder, port), port, "/readyz") as server:
        for name in (WATCHED, *(f"ns-{number}" for number in range(50))):
            server.send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        server.send("POST", f"/api/v1/namespaces/{WATCHED}/serviceaccounts", {"metadata": {"name": "default"}})
        _template(server, kind)
    with closing(SqliteStore(folder / "data" / "storage.db")) as store:
        first = store.get(f"{kind.prefix}{WATCHED}/first")
        assert first is not None
        _copy(store, kind, first.value, pods)
    (folder / "made").touch()


class Renewals:
    """Renews leases at a steady rate over a few connections; `waited` are seconds since each was due."""

    def __init__(self, server: Served) -> None:
        self._server = server
        self._due: SimpleQueue[tuple[float, int] | None] = SimpleQueue()
        self._failed: list[str] = []
        self.waited: list[float] = []
        self._leases = [self._create(f"n{number}") for number in range(LEASES)]

    def _create(self, name: str) -> dict[str, Any]:
        body = {"metadata": {"name": name, "namespace": "kube-node-lease"}, "spec": {"holderIdentity": "n"}}
        made: dict[str, Any] = json.loads(self._server.send("POST", LEASE, body)[1])
        return made

    def run(self, seconds: float) -> None:
        """Renew for so long.

        Raises:
            RuntimeError: a renewal failed.
        """
        self.waited = []
        senders = [threading.Thread(target=self._send) for _ in range(SENDERS)]
        for sender in senders:
            sender.start()
        begun = time.monotonic()
        for number in range(int(seconds * RATE)):
            due = begun + number / RATE
            time.sleep(max(0.0, due - time.monotonic()))
            self._due.put((due, number))
        for _ in senders:
            self._due.put(None)
        for sender in senders:
            sender.join()
        if self._failed:
            raise RuntimeError(f"{len(self._failed)} renewals failed, such as: {self._failed[0]}")

    def _send(self) -> None:
        connection = self._server.connect()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        while (work := self._due.get()) is not None:
            due, number = work
            lease = self._leases[number % LEASES]
            lease["spec"]["renewTime"] = f"2026-01-01T00:00:{number % 60:02}.{number % 10**6:06}Z"
            try:
                connection.request("PUT", f"{LEASE}/{lease['metadata']['name']}", json.dumps(lease), headers)
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self._failed.append(repr(error))
                connection.close()
                continue
            self.waited.append(time.monotonic() - due)
            if answer.status == 200:
                self._leases[number % LEASES] = json.loads(text)
            else:
                self._failed.append(text.decode())
        connection.close()


def turn(server: Served, renewals: Renewals, form: tuple[str, ...], seconds: float, at_rest: float) -> Found:
    """Renew for so long, beside lists in a form; `at_rest` is the CPU of a second without lists."""
    ended, took = threading.Event(), list[float]()

    def lists() -> None:
        fields = [word for field in form for word in ("-H", field)]
        command = ["curl", "-sSk", "-A", "bench", "-o", "/dev/null", "-H", f"Authorization: Bearer {TOKEN}", *fields]
        while form and not ended.is_set():
            begun = time.monotonic()
            subprocess.run([*command, f"https://127.0.0.1:{server.port}/api/v1/pods"], check=True)
            took.append(time.monotonic() - begun)
            ended.wait(max(0.0, EVERY - took[-1]))

    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")  # begins a new peak
    asking, cpu, begun = threading.Thread(target=lists), server.cpu(), time.monotonic()
    asking.start()
    renewals.run(seconds)
    ended.set()
    asking.join()
    spent = server.cpu() - cpu - at_rest * (time.monotonic() - begun)
    waited = sorted(renewals.waited)
    return Found(
        statistics.median(waited) * 1000,
        waited[len(waited) * 99 // 100] * 1000,
        waited[-1] * 1000,
        _peak(server),
        spent / max(len(took), 1),
        statistics.median(took) if took else 0.0,
    )


def _peak(server: Served) -> float:
    rows = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(row.split()[1]) / 1024 for row in rows if row.startswith("VmHWM:"))


def main(arguments: list[str]) -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description="Measure large lists beside renewals of leases.")
    parser.add_argument("--store", type=Path, required=True, help="a folder that keeps the store between runs")
    parser.add_argument("--pods", type=int, default=PODS, help="how many there are (default %(default)s)")
    parser.add_argument("--programs", type=Path, default=BIN, help="a folder of this state's (default %(default)s)")
    parser.add_argument("--against", type=Path, help="a folder of another state's programs")
    parser.add_argument("--seconds", type=float, default=20.0, help="of a turn (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=2, help="how often each form has its turn (default %(default)s)")
    parser.add_argument("--rest", type=float, default=REST, help="seconds before the first turn (default %(default)s)")
    parser.add_argument("--only", nargs="+", default=list(FORMS), help="forms (default all of them)")
    given = parser.parse_args(arguments)
    make(given.store / "pods", given.pods)
    states = {"this": given.programs, **({"other": given.against} if given.against else {})}
    with ExitStack() as stack:
        servers: dict[str, tuple[Served, Renewals]] = {}
        for state, programs in states.items():
            folder, port = given.store / state, free_port()
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(given.store / "pods", folder)
            server = stack.enter_context(running(api_server(folder, port, programs), port, "/readyz"))
            server.send("GET", "/api/v1/pods?limit=1")
            servers[state] = server, Renewals(server)
        print(f"{given.pods} pods; pace {pace():.2f} s; at rest for {given.rest:.0f} s", flush=True)
        time.sleep(given.rest)
        measure(servers, given.only, given.rounds, given.seconds)


def measure(servers: dict[str, tuple[Served, Renewals]], forms: list[str], rounds: int, seconds: float) -> None:
    """Give each form its turns, of all states one after the other, and print what was found."""
    at_rest = dict.fromkeys(servers, 0.0)
    for _ in range(rounds):
        for form in forms:
            for state, (server, renewals) in servers.items():
                before = server.cpu()
                found = turn(server, renewals, FORMS[form], seconds, at_rest[state] if FORMS[form] else 0.0)
                if not FORMS[form]:
                    at_rest[state] = (server.cpu() - before) / seconds
                took = f"a list {found.cpu:.2f} s CPU in {found.seconds:.2f} s; " if FORMS[form] else ""
                print(
                    f"{form}, {state}: renewals {found.p50:.1f} ms, 99 % {found.p99:.0f}, most {found.most:.0f}; "
                    f"{took}peak {found.peak:.0f} MiB; pace {pace():.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
