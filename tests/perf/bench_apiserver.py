"""How fast the API server is, beside what the machine gives in the same minutes.

Run by hand on a quiet machine that has wrk (``apt-get install wrk``; ``./dev servers`` leaves it out, as no test needs
it): ``.venv/bin/python tests/perf/bench_apiserver.py``. The server is a process of
its own, asked over TLS with a bearer token, with RBAC and SQLite, and a new one each round, so that no round lists or holds
what an earlier one has written. For each row the same load goes to uvicorn alone, which answers the same bytes and does
nothing else, in turns of a second, as the machine's pace changes within seconds, and so do rows that are judged against
each other; writes are also set against SQLite
committing the object for 16 threads, as durably. Shown are medians of ``--rounds``, shares of uvicorn's rate and the same by CPU (uvicorn's of a request, divided by
ours), what a row must reach, and whether it does. Read the CPU and the shares first: rates alone say more about who else
is using the machine. ``--only`` and ``--parts`` choose; with everything it takes a quarter of an hour.
``./dev perf --against COMMIT`` asks two commits in turns. Nothing here fails.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import shutil
import ssl
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from api_requests import (  # type: ignore[import-not-found]  # beside this file, not a package
    ANY_PROTOBUF,
    JSON,
    ROOT,
    Aim,
    Row,
    chosen,
    seed,
)
from bench_scheduler import end_to_end  # type: ignore[import-not-found]  # the same
from bench_storage import BareEngine, crowded  # type: ignore[import-not-found]  # the same
from hyperkube_testing.peers.ports import free_port
from servers_under_load import (  # type: ignore[import-not-found]  # the same
    TOKEN,
    Measured,
    Served,
    api_server,
    bare,
    install_uvicorn,
    mean,
    running,
    wrk,
)

WATCHES, CREATES, STARTS = 500, 200, 10
TURN, TURNS = 1, 3
"""Seconds of one turn of a row in a round, and how many there are."""
PARTS = ("starts", "rows", "watches", "scheduling")
ENCODINGS = {"json": (JSON, b'"type":"ADDED"'), "protobuf": (ANY_PROTOBUF, b"\n\x05ADDED")}
"""Of watches: the Accept header, and the bytes that each event has once."""
FAN_OUT = Aim(1.3, 1.0, "json", "cpu")
BOUND = Aim(0.85, 0.95)


def bare_commits(folder: Path) -> float:
    """Return how many rows a second SQLite commits durably for 16 threads."""
    engine = BareEngine(folder / f"bare-{free_port()}.db")
    rate = float(statistics.median(crowded(engine.write)[0] for _ in range(4)))
    engine.connection.close()
    return rate


class Figures(NamedTuple):
    """One round of one row: ours, bare uvicorn's in the same seconds."""

    ours: Measured
    base: Measured


def measured(folder: Path, server: Served, rows: list[Row]) -> Iterator[Figures]:
    """Ask the server, and uvicorn alone for the same bytes, in turns; rows that are compared share each round of turns."""
    with ExitStack() as stack:
        alone = []
        for row in rows:
            answered = row.ask.path if row.ask.method == "GET" else f"{ROOT}/pods/seed-000"
            alone.append(stack.enter_context(bare(folder, server.send("GET", answered, accept=row.ask.accept)[1])))
        turns = [
            [(server.load(row.ask, TURN), base.load(row.ask, TURN)) for row, base in zip(rows, alone, strict=True)]
            for _ in range(TURNS)
        ]
    for pairs in zip(*turns, strict=True):
        yield Figures(mean([ours for ours, _ in pairs]), mean([base for _, base in pairs]))


def compared(rows: list[Row]) -> list[list[Row]]:
    """Put rows together that are judged against the same one."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[(row.aim.row if row.aim is not None else "") or row.name].append(row)
    return list(groups.values())


@contextmanager
def seeded(folder: Path) -> Iterator[Served]:
    """Run an API server that has nothing but what the reads are about."""
    shutil.rmtree(folder / "data", ignore_errors=True)
    port = free_port()
    with running(api_server(folder, port), port, "/readyz") as server:
        seed(server)
        yield server


def operations(folder: Path, rows: list[Row], rounds: int) -> None:
    """Print a row for each operation: medians of the rounds, and whether the row reaches what it must."""
    found: dict[str, list[Figures]] = defaultdict(list)
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", flush=True)
        with seeded(folder) as server:
            for group in compared(rows):
                for row, figures in zip(group, measured(folder, server, group), strict=True):
                    found[row.name].append(figures)
            _print_memory(server)
    print(f"{'':28}{'req/s':>8}{'p50 / p99 ms':>15}{'CPU us':>9} | {'uvicorn':>9}{'CPU us':>8} | {'by rate':>8}{'by CPU':>8}"
          f"{'k8s 1.36':>10} | {'SQLite/s':>9}{'share':>7} | must")  # fmt: skip
    for row in rows:
        print(_shown(folder, row, found), flush=True)


def _print_memory(server: Served) -> None:
    resident, proportional = server.memory()
    print(f"memory afterwards: {resident:.0f} MiB RSS, {proportional:.0f} PSS")


def _median(found: list[Figures], of: Callable[[Figures], float]) -> float:
    return statistics.median(of(figures) for figures in found)


def _shown(folder: Path, row: Row, found: dict[str, list[Figures]]) -> str:
    rounds = found[row.name]
    rate, cpu = _median(rounds, lambda all_: all_.ours.rate), _median(rounds, lambda all_: all_.ours.cpu)
    p50, p99 = _median(rounds, lambda all_: all_.ours.p50), _median(rounds, lambda all_: all_.ours.p99)
    shown = f"{row.name:28}{rate:8,.0f}{f'{p50:.1f} / {p99:.1f}':>15}{cpu:9,.0f}"
    shown += (
        f" | {_median(rounds, lambda all_: all_.base.rate):9,.0f}{_median(rounds, lambda all_: all_.base.cpu):8,.0f}"
    )
    share = _median(rounds, lambda all_: all_.ours.rate / all_.base.rate)
    shown += f" | {share:8.3f}{_median(rounds, lambda all_: all_.base.cpu / all_.ours.cpu):8.3f}"
    shown += f"{f'{row.theirs:.3f}' if row.theirs is not None else '':>10}"
    commits = bare_commits(folder) if row.ask.method != "GET" else 0.0
    shown += f" | {commits:9,.0f}{rate / commits:7.0%}" if commits else f" | {'':16}"
    return shown + (f" | {_verdict(row.aim, share, rounds, found)}" if row.aim is not None else "")


def _verdict(aim: Aim, share: float, rounds: list[Figures], found: dict[str, list[Figures]]) -> str:
    """Say what the row comes to, what it must, and whether that holds."""
    if not aim.row:
        return f"{share:.3f}, must {aim.must:g}: {_holds(aim, share)}"
    pairs = list(zip(rounds, found[aim.row], strict=True))
    if aim.figure == "cpu":
        ratio = statistics.median(this.ours.cpu / other.ours.cpu for this, other in pairs)
        return f"{ratio:.2f} of the CPU of {aim.row}, at most {aim.must:g}: {_holds(aim, ratio)}"
    ratio = statistics.median(this.ours.rate / other.ours.rate for this, other in pairs)
    return f"{ratio:.2f} of the rate of {aim.row}, must {aim.must:g}: {_holds(aim, ratio)}"


def _holds(aim: Aim, value: float) -> str:
    return "holds" if aim.holds(value) else "missed"


def fan_outs(server: Served, rounds: int) -> None:
    """Print what an event to many watchers costs, in JSON and in protobuf, in turns."""
    spent: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds):
        for name, (accept, marker) in ENCODINGS.items():
            rate, cpu = fan_out(server, f"{name}-{number}", accept, marker)
            spent[name].append(cpu)
            print(f"watch fan-out, {WATCHES} x {CREATES}, {name}: {rate:,.0f} events/s, {cpu:.1f} us CPU of each"
                  f" (creates included; the reader is Python and has the other core)", flush=True)  # fmt: skip
    ratio = statistics.median(binary / text for binary, text in zip(spent["protobuf"], spent["json"], strict=True))
    print(f"watch fan-out: protobuf {ratio:.2f} of JSON's CPU, at most {FAN_OUT.must:g}: {_holds(FAN_OUT, ratio)}")


def fan_out(server: Served, name: str, accept: str, marker: bytes) -> tuple[float, float]:
    """Open many watches and create objects; return events arrived per second at all of them, and CPU of each in us."""
    selector = selectors.DefaultSelector()
    path = f"{ROOT}/secrets?watch=1&labelSelector=fan%3D{name}&resourceVersion=0"
    for _ in range(WATCHES):
        connection = server.connect()
        connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}", "Accept": accept})
        sock = connection.sock
        sock.setblocking(False)
        selector.register(sock, selectors.EVENT_READ, [b""])
    time.sleep(1)

    def create() -> None:
        connection = server.connect()
        for number in range(CREATES):
            meta = {"name": f"fan-{name}-{number}", "labels": {"fan": name}}
            secret = json.dumps({"metadata": meta, "stringData": {"k": "x" * 500}})
            connection.request("POST", f"{ROOT}/secrets", secret, {"Authorization": f"Bearer {TOKEN}"})
            connection.getresponse().read()

    before, begun, arrived = server.cpu(), time.monotonic(), 0
    maker = threading.Thread(target=create)
    maker.start()
    while arrived < WATCHES * CREATES and time.monotonic() - begun < 60:
        for key, _ in selector.select(1):
            try:
                data = key.data[0] + key.fileobj.recv(1 << 18)  # type: ignore[union-attr]  # our sockets
            except ssl.SSLWantReadError:
                continue
            arrived += data.count(marker)
            key.data[0] = data[1 - len(marker) :]  # an event may come in two parts
    took, spent = time.monotonic() - begun, server.cpu() - before
    maker.join()
    for key in list(selector.get_map().values()):
        key.fileobj.close()  # type: ignore[union-attr]  # our sockets
    selector.close()
    if not arrived:
        raise RuntimeError(f"no event has arrived at {WATCHES} watches of {accept}")
    return arrived / took, spent / arrived * 1e6


def scheduling(rounds: int) -> None:
    """Print how many pods are bound for each that is created."""
    found = [end_to_end(100, 1000) for _ in range(rounds)]
    kept_up = statistics.median(each.bound / each.created for each in found)
    print(
        f"scheduling: bound {kept_up:.2f} of the pods created in the same seconds, must {BOUND.must:g}: {_holds(BOUND, kept_up)}"
    )
    alone = statistics.median(each.bound / each.alone for each in found)
    print(f"scheduling: bound {alone:.2f} of the pods that are created where nothing binds them")


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


def main(arguments: list[str]) -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description="Measure the API server beside bare uvicorn.")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is asked; medians are shown (default 3)")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD", help="rows whose names have one of the words")
    parser.add_argument("--parts", default=",".join(PARTS), help="what to measure: %(default)s")
    given = parser.parse_args(arguments)
    parts, rows = given.parts.split(","), chosen(given.only)
    if "rows" in parts:
        wrk()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "starts" in parts:
            cold_starts(folder)
        if "rows" in parts:
            install_uvicorn(folder)
            operations(folder, rows, given.rounds)
        if "watches" in parts:
            with seeded(folder) as server:
                fan_outs(server, given.rounds)
                _print_memory(server)
        if "scheduling" in parts:
            scheduling(given.rounds)


if __name__ == "__main__":
    main(sys.argv[1:])
