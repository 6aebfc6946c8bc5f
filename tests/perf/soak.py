"""Does memory stay flat, and what is left over? A local cluster under half the load that it can bear, then at rest.

Run by hand: ``.venv/bin/python tests/perf/soak.py --minutes 60``. Clients create, read, change, list, watch and delete
config maps, and pods of a simulated node come and go. The first seconds measure what the machine bears; from then on
the clients send half of that, or `--rate` requests a second. Each minute one line tells requests, answers that were
errors, memory and threads. Then the cluster rests until what it keeps for some minutes is gone, and is compared with a
fresh start on the same data that has rested as long. Exits with 1 when memory grew after the first third, when an
answer was an error that the load does not explain, or when after the rest more is left than `verdicts` allows.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hyperkube_storage.sqlite import SqliteStore
from hyperkube_testing.peers.ports import free_port

from hyperkube.client.client import Client
from hyperkube.client.kubeconfig import client_from_kubeconfig
from hyperkube.kinds.resources import CONFIG_MAPS, PODS
from hyperkube.machinery.errors import ApiError, Conflict, NotFound

CLIENTS = 4
MEASURE_SECONDS = 10.0
SAMPLE_SECONDS = 60.0
NODES = 3
GROWTH = 1.05
"""How much larger the median of the last third may be than that of the second: caches fill, and are bounded."""
REST_SECONDS = 420.0
"""Longer than replaced versions of objects are kept (five minutes), and than what waits for its next turn; after a
fresh start, too, as memory is given back and taken again meanwhile."""
RESIDENT, STORED, LEFT_OVER = 1.3, 3.0, 4
"""What may be left: times the resident memory of a fresh start, times the live data, threads, descriptors or tasks."""
AT_REST = 2 << 20
"""Bytes that the store's files may have beside: five minutes of a resting cluster's leases, and room for the next."""
STEPS = 8
NAMES = 50
TEXT = "x" * 2000
HYPERKUBE = Path(sys.executable).with_name("hyperkube")


def is_flat(samples: Sequence[float]) -> bool:
    """Tell whether memory stays: the first third is the start, the other two are compared."""
    third = len(samples) // 3
    if not third:
        return True
    return statistics.median(samples[-third:]) <= statistics.median(samples[third : 2 * third]) * GROWTH


class Load(threading.Thread):
    """Sends one request after the other, pausing between two; eight kinds in turn."""

    def __init__(self, client: Client, number: int) -> None:
        super().__init__(daemon=True, name=f"load-{number}")
        self.pause = 0.0
        self.requests = self.errors = 0
        self.last_error = ""
        self.ended = threading.Event()
        self._client = client
        self._number = number

    def run(self) -> None:
        """Send until `ended`."""
        count = 0
        while not self.ended.wait(self.pause):
            count += 1
            try:
                self._step(count)
            except (NotFound, Conflict):
                pass  # other clients act on other names, but the cluster's own loops on these pods
            except (ApiError, OSError) as error:
                self.errors += 1
                self.last_error = f"{type(error).__name__}: {error}"
            self.requests += 1

    def _step(self, count: int) -> None:
        client, namespace = self._client, "default"
        name = f"soak-{self._number}-{count // STEPS % NAMES}"
        match count % STEPS:
            case 0:
                client.create(CONFIG_MAPS, {"metadata": {"name": name}, "data": {"text": TEXT}}, namespace)
            case 1:
                client.get(CONFIG_MAPS, name, namespace)
            case 2:
                client.patch(CONFIG_MAPS, name, {"data": {"count": str(count)}}, namespace)
            case 3:
                client.list(CONFIG_MAPS, namespace, limit=20)
            case 4:
                watch = client.watch(CONFIG_MAPS, namespace, timeout_seconds=1)
                watch.close()
            case 5:
                client.create(PODS, {"metadata": {"name": name}, "spec": {"containers": [_CONTAINER]}}, namespace)
            case 6:
                client.delete(CONFIG_MAPS, name, namespace)
            case _:
                client.delete(PODS, name, namespace, options={"gracePeriodSeconds": 0})


_CONTAINER = {"name": "main", "image": "example.com/none"}


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[int, Path]]:
    """Start a cluster of simulated nodes, on the data that is there; yield its process and its kubeconfig."""
    line = [HYPERKUBE, "up", "--data-dir", folder, "--secure-port", str(free_port()), "--hollow-only"]
    line += ["--apiserver-arg", "event-ttl=1m"]  # what pods leave behind goes after an hour, which no soak would see
    process = subprocess.Popen(
        [*map(str, line), "--nodes", str(NODES)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": str(folder)},
    )
    try:
        assert process.stdout is not None
        if "running" not in process.stdout.readline():
            sys.exit("the cluster did not start")
        yield process.pid, folder / "admin.kubeconfig"
    finally:
        process.terminate()
        process.communicate(timeout=60)


def memory(pid: int) -> float:
    """Return the memory that is a process's own or its share of what is shared, in MiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def resident(pid: int) -> float:
    """Return the resident memory of a process, shared or not, in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def count(pid: int, what: str) -> int:
    """Return how many entries a folder of ``/proc/PID`` has: `what` is ``task`` for threads, ``fd`` for descriptors."""
    return len(list(Path(f"/proc/{pid}/{what}").iterdir()))


@dataclass(frozen=True, slots=True)
class Rest:
    """What a process has when it rests: MiB resident, threads, descriptors, asyncio tasks, and names of threads."""

    resident: float
    threads: int
    descriptors: int
    tasks: int
    names: tuple[str, ...] = ()


def at_rest(pid: int, client: Client) -> Rest:
    """Return what a cluster has now; memory first, as the question for its threads loads what answers it."""
    memory = resident(pid)
    stacks = client.request("GET", "/debug/pprof/goroutine").body.decode()
    tasks = sum(line.startswith("task ") for line in stacks.splitlines())
    names = sorted(line.split()[1] for line in stacks.splitlines() if line.startswith("thread "))
    return Rest(memory, count(pid, "task"), count(pid, "fd"), tasks, tuple(names))


def stored(folder: Path) -> tuple[int, int]:
    """Return the bytes of a stopped cluster's files of the store, and those of its live keys and values."""
    file = next(folder.rglob("storage.db"))
    size = sum(each.stat().st_size for each in file.parent.glob(f"{file.name}*"))
    store = SqliteStore(file, history_seconds=0)
    try:
        return size, sum(len(each.key) + len(each.value) for each in store.range("/", "0").items)
    finally:
        store.close()


def verdicts(loaded: Rest, fresh: Rest, size: int, live: int) -> dict[str, bool]:
    """Return what is said of a cluster at rest after a load, and whether it is as it should be.

    Args:
        loaded: after the load and the rest.
        fresh: the same data after a fresh start.
        size: of the store's files, in bytes.
        live: the bytes of what they hold that is not replaced or deleted.
    """
    memory = f"{loaded.resident:.0f} MiB resident, {fresh.resident:.0f} after a fresh start"
    found = {
        f"{memory}: {loaded.resident / fresh.resident:.2f} (at most {RESIDENT})": loaded.resident
        <= fresh.resident * RESIDENT,
        f"{size / 1024:.0f} KiB in files, {live / 1024:.0f} live: {size / live:.2f} (at most {STORED}, and {AT_REST >> 10} KiB)": size
        <= live * STORED + AT_REST,
    }
    for what in ("threads", "descriptors", "tasks"):
        now, then = getattr(loaded, what), getattr(fresh, what)
        found[f"{now} {what}, {then} after a fresh start"] = now <= then + LEFT_OVER
    return found


def soak(minutes: float, rate: float = 0.0, rest: float = REST_SECONDS) -> bool:
    """Load a cluster for so long; tell whether its memory stayed, every answer made sense, and nothing is left over."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with cluster(folder) as (pid, kubeconfig):
            is_well = _load(pid, kubeconfig, minutes, rate)
            print(f"rests for {rest:.0f} s", flush=True)
            time.sleep(rest)
            loaded = at_rest(pid, client_from_kubeconfig(str(kubeconfig)))
        size, live = stored(folder)
        with cluster(folder) as (pid, kubeconfig):
            time.sleep(rest)
            fresh = at_rest(pid, client_from_kubeconfig(str(kubeconfig)))
    said = verdicts(loaded, fresh, size, live)
    for text, holds in said.items():
        print(text if holds else f"TOO MUCH: {text}", flush=True)
    left = Counter(loaded.names) - Counter(fresh.names)
    print("threads that a fresh start has not:", ", ".join(sorted(left.elements())) or "none", flush=True)
    return is_well and all(said.values())


def _load(pid: int, kubeconfig: Path, minutes: float, rate: float) -> bool:
    """Load a cluster; tell whether its memory stayed and every answer made sense."""
    loads = [Load(client_from_kubeconfig(str(kubeconfig)), number) for number in range(CLIENTS)]
    for load in loads:
        load.pause = CLIENTS / rate if rate else 0.0
        load.start()
    if not rate:
        time.sleep(MEASURE_SECONDS)
        most = sum(load.requests for load in loads) / MEASURE_SECONDS
        for load in loads:
            load.pause = CLIENTS / most  # as long as a request takes on the average: half of what it can bear
        print(f"half of {most:.0f} requests/s", flush=True)
    samples: list[float] = []
    until = time.monotonic() + minutes * 60
    while time.monotonic() < until:
        time.sleep(min(SAMPLE_SECONDS, max(0.0, until - time.monotonic())))
        samples.append(memory(pid))
        sent, errors = sum(load.requests for load in loads), sum(load.errors for load in loads)
        sizes = f"PSS {samples[-1]:6.1f} MiB RSS {resident(pid):6.1f} MiB"
        entries = f"{count(pid, 'task'):4d} threads {count(pid, 'fd'):4d} descriptors"
        print(f"{sent:9d} requests {errors:5d} errors {sizes} {entries}", flush=True)
    for load in loads:
        load.ended.set()
        load.join()
    faults = {load.last_error for load in loads if load.last_error}
    print("\n".join(sorted(faults)) or "no errors")
    return is_flat(samples) and not faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=0.0, help="requests a second; half of what is borne unless told")
    parser.add_argument(
        "--rest", type=float, default=REST_SECONDS, help="seconds of rest after the load, and the start"
    )
    given = parser.parse_args()
    sys.exit(0 if soak(given.minutes, given.rate, given.rest) else 1)
