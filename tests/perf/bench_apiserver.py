"""How fast the API server is, beside what the machine gives in the same minutes.

Run by hand on a quiet machine that has wrk: ``.venv/bin/python tests/perf/bench_apiserver.py``. The server is a process of
its own, asked over TLS with a bearer token, with RBAC and SQLite. Right after each row the same load goes to uvicorn alone,
which answers the same bytes and does nothing else; writes are also set against SQLite committing the object for 16 threads,
as durably. Read the CPU of each request and the shares first: rates alone say more about who else is using the machine.
``./dev perf --against COMMIT`` asks two commits in turns. Nothing here fails.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import ssl
import statistics
import tempfile
import threading
import time
from pathlib import Path

from api_requests import ROOT, ROWS, seed  # type: ignore[import-not-found]  # beside this file, not a package
from bench_storage import BareEngine, crowded  # type: ignore[import-not-found]  # the same
from hyperkube_testing.peers.ports import free_port
from servers_under_load import (  # type: ignore[import-not-found]  # the same
    TOKEN,
    Served,
    api_server,
    bare,
    install_uvicorn,
    running,
)

WATCHES, CREATES, STARTS = 500, 200, 10


def bare_commits(folder: Path) -> float:
    """Return how many rows a second SQLite commits durably for 16 threads."""
    engine = BareEngine(folder / f"bare-{free_port()}.db")
    rate = float(statistics.median(crowded(engine.write)[0] for _ in range(4)))
    engine.connection.close()
    return rate


def operations(folder: Path, server: Served) -> None:
    """Print a row for each operation."""
    print(f"{'':24}{'req/s':>9}{'p50 / p99 ms':>15}{'CPU us':>9} | {'uvicorn':>9}{'CPU us':>8}{'share':>7}{'k8s 1.36':>10}"
          f" | {'SQLite/s':>9}{'share':>7}")  # fmt: skip
    for row in ROWS:
        ask = row.ask
        answered = ask.path if ask.method == "GET" else f"{ROOT}/pods/seed-000"
        answer = server.send("GET", answered, accept=ask.accept)[1]
        ours = server.load(ask)
        with bare(folder, answer) as alone:
            base = alone.load(ask)
        shown = f"{row.name:24}{ours.rate:9,.0f}{f'{ours.p50:.1f} / {ours.p99:.1f}':>15}{ours.cpu:9,.0f}"
        theirs = f"{row.theirs:.3f}" if row.theirs is not None else ""
        shown += f" | {base.rate:9,.0f}{base.cpu:8,.0f}{ours.rate / base.rate:7.3f}{theirs:>10}"
        commits = bare_commits(folder) if ask.method != "GET" else 0.0
        shown += f" | {commits:9,.0f}{ours.rate / commits:7.0%}" if commits else ""
        print(shown, flush=True)


def fan_out(server: Served) -> None:
    """Open many watches, create objects, and print how fast the events arrive at all of them."""
    selector, marker = selectors.DefaultSelector(), b'"type":"ADDED"'
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    path = f"{ROOT}/secrets?watch=1&labelSelector=fan%3Dout&resourceVersion=0"
    for _ in range(WATCHES):
        connection = server.connect()
        connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
        sock = connection.sock
        sock.setblocking(False)
        selector.register(sock, selectors.EVENT_READ, [b""])
    time.sleep(1)

    def create() -> None:
        connection = server.connect()
        for number in range(CREATES):
            secret = {"metadata": {"name": f"fan-{number}", "labels": {"fan": "out"}}, "stringData": {"k": "x" * 500}}
            connection.request("POST", f"{ROOT}/secrets", json.dumps(secret), {"Authorization": f"Bearer {TOKEN}"})
            connection.getresponse().read()

    before, begun, arrived = server.cpu(), time.monotonic(), 0
    threading.Thread(target=create).start()
    while arrived < WATCHES * CREATES and time.monotonic() - begun < 60:
        for key, _ in selector.select(1):
            try:
                data = key.data[0] + key.fileobj.recv(1 << 18)  # type: ignore[union-attr]  # our sockets
            except ssl.SSLWantReadError:
                continue
            arrived += data.count(marker)
            key.data[0] = data[data.rfind(b"}") :] if marker not in data[-len(marker) :] else b""
    took, spent = time.monotonic() - begun, server.cpu() - before
    for key in list(selector.get_map().values()):
        key.fileobj.close()  # type: ignore[union-attr]  # our sockets
    rate = arrived / took
    print(f"watch fan-out, {WATCHES} x {CREATES}: {rate:,.0f} events/s, {spent / arrived * 1e6:.1f} us CPU of each"
          f" (creates included; the reader is Python and has the other core)")  # fmt: skip


def cold_starts(folder: Path) -> None:
    """Print how long an API server takes to its first 200 on /readyz, with and without data."""
    for what in ("empty", "with data"):
        rows: list[tuple[float, float]] = []
        for number in range(STARTS + 1):
            home = folder / f"start-{what}"
            if what == "empty":
                shutil.rmtree(home, ignore_errors=True)
            home.mkdir(exist_ok=True)
            port, begun = free_port(), time.monotonic()
            with running(api_server(home, port), port, "/readyz") as server:
                if number:  # the first compiles, or makes the data
                    rows.append((time.monotonic() - begun, server.cpu()))
                resident, proportional = server.memory()
        walls, cpus = zip(*rows, strict=True)
        print(f"cold start, {what}: {min(walls):.2f} / {statistics.median(walls):.2f} / {max(walls):.2f} s (min, median, max of"
              f" {STARTS}), {statistics.median(cpus):.2f} s CPU; {resident:.0f} MiB RSS, {proportional:.0f} PSS")  # fmt: skip


def main() -> None:
    """Measure everything once."""
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        install_uvicorn(folder)
        cold_starts(folder)
        with running(api_server(folder, port), port, "/readyz") as server:
            seed(server)
            operations(folder, server)
            fan_out(server)
            resident, proportional = server.memory()
            print(f"memory afterwards: {resident:.0f} MiB RSS, {proportional:.0f} PSS")


if __name__ == "__main__":
    main()
