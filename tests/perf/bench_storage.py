"""How fast the embedded store is, beside what SQLite itself gives in the same seconds; and what forks and caches cost.

Run by hand: ``.venv/bin/python tests/perf/bench_storage.py``. Durable writes are measured in turns with the same bytes
going into SQLite through the least code that commits for 16 threads at once (one row each, whoever comes first commits
for all who wait), and with one thread that commits batches of 16 for nobody. Read the ratios: rates alone say more about
who else is using the machine. Nothing here fails; the targets are printed beside what was measured.
"""

from __future__ import annotations

import gc
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path

import orjson
from hyperkube_lib.watch_cache.cached_object import read_object
from hyperkube_lib.watch_cache.object_table import by_owner
from hyperkube_lib.watch_cache.watch_cache import StoreCache
from hyperkube_storage.sqlite import SqliteStore
from hyperkube_testing.cluster.cluster import ControlPlane

from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Compare, Put

WRITERS = 16
ROUNDS = 20
SECONDS = 0.25
VALUE = orjson.dumps(
    {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "a", "namespace": "default"},
        "data": {"k": "x" * 800},
    }
)
CACHED = 100_000
SEEDED = 1_000
FORKS = 100


class BareEngine:
    """SQLite with the least that lets many threads share a flush."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 2000;"
            "CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT, v BLOB)"
        )
        self._mutex = threading.Lock()
        self._writer = threading.Lock()
        self._waiting: list[tuple[tuple[str, bytes], threading.Event]] = []

    def write(self, number: int) -> None:
        """Insert a row; it is durable when this returns."""
        done = threading.Event()
        with self._mutex:
            self._waiting.append(((f"/registry/configmaps/default/w{number}", VALUE), done))
        with self._writer:
            if done.is_set():
                return
            with self._mutex:
                batch, self._waiting = self._waiting, []
            self.commit([row for row, _ in batch])
            for _, other in batch:
                other.set()

    def commit(self, rows: list[tuple[str, bytes]]) -> None:
        """Insert rows in one transaction."""
        places = ", ".join(["(?, ?)"] * len(rows))
        self.connection.execute(f"INSERT INTO t (k, v) VALUES {places}", [text for row in rows for text in row])

    def batches(self) -> float:
        """Return how many rows a second one thread commits in batches."""
        rows, done, begun = [("/registry/configmaps/default/batch", VALUE)] * WRITERS, 0, time.monotonic()
        while time.monotonic() - begun < SECONDS:
            self.commit(rows)
            done += len(rows)
        return done / (time.monotonic() - begun)


def crowded(write: Callable[[int], object], writers: int = WRITERS) -> tuple[float, float]:
    """Return how many writes a second many threads get done, and the CPU us of each."""
    numbers, done = count(), [0] * writers
    begun, used = time.monotonic(), time.process_time()

    def work(place: int) -> None:
        while time.monotonic() - begun < SECONDS:
            write(next(numbers))
            done[place] += 1

    threads = [threading.Thread(target=work, args=(place,)) for place in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.monotonic() - begun), (time.process_time() - used) / sum(done) * 1e6


def durable_writes(folder: Path) -> None:
    """Print the store's writes a second over the bare engine's, in turns."""
    store, bare, serial = SqliteStore(folder / "storage.db"), BareEngine(folder / "bare.db"), count()

    def swap(_: int) -> None:
        key = f"/registry/configmaps/default/w{next(serial)}"
        store.txn([Compare(key, 0)], [Put(key, VALUE)])

    ours, crowd, alone, batches = [], [], [], []
    for number in range(ROUNDS):
        for write, measured in ((swap, ours), (bare.write, crowd))[:: -1 if number % 2 else 1]:
            measured.append(crowded(write))
        alone.append(crowded(swap, 1))
        batches.append(bare.batches())
    store.close()
    bare.connection.close()
    ratio = statistics.median(own[0] / other[0] for own, other in zip(ours, crowd, strict=True))
    rates = [statistics.median(rate for rate, _ in measured) for measured in (ours, crowd, alone)]
    cost, bare_cost, _ = (statistics.median(used for _, used in measured) for measured in (ours, crowd, alone))
    print(
        f"durable compare-and-swap, {WRITERS} writers: {rates[0]:,.0f}/s, {cost:.0f} us of CPU; alone {rates[2]:,.0f}/s"
    )
    print(f"  bare SQLite, {WRITERS} threads: {rates[1]:,.0f}/s, {bare_cost:.0f} us: ratio {ratio:.2f} (target 0.8)")
    print(f"  bare SQLite, one thread, batches of {WRITERS}: {statistics.median(batches):,.0f}/s")


def filled_cache(folder: Path) -> None:
    """Print how long a store with many objects takes to open and its cache to be ready."""
    path = folder / "large.db"
    with closing(SqliteStore(path)) as store:
        for start in range(0, CACHED, 1000):
            store.txn([], [Put(f"/registry/pods/ns{n % 100:02}/p{n:06}", pod(n)) for n in range(start, start + 1000)])
    begun, used = time.monotonic(), time.process_time()
    with closing(SqliteStore(path)) as store:
        opened = time.monotonic() - begun
        cache = StoreCache(store, SystemClock())
        cache.start()
        pods = cache.resource("/registry/pods/", read_object(), indexes={"owner": by_owner})
        assert len(pods.list(limit=1).objects) == 1
        assert len(pods) == CACHED
        ready, used = time.monotonic() - begun, time.process_time() - used
        cache.close()
    print(
        f"{CACHED:,} objects of {len(pod(0))} bytes: file open {opened:.2f} s, cache ready {ready:.2f} s, "
        f"{used:.2f} of CPU (target 5)"
    )


def pod(number: int) -> bytes:
    """Return an object as it is stored."""
    meta = {
        "name": f"p{number:06}",
        "namespace": f"ns{number % 100:02}",
        "uid": f"uid-{number}",
        "labels": {"app": "a"},
    }
    return orjson.dumps(
        {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": {"nodeName": "n", "x": "y" * 800}}
    )


def forks() -> None:
    """Print what forks of a cluster cost: the store alone, and with an API server that answers."""
    with ControlPlane(controller_manager=None, scheduler=None) as cluster:
        for number in range(SEEDED):
            made = {"metadata": {"name": f"seed-{number}"}, "data": {"k": "x" * 800}}
            cluster.client.create(CONFIG_MAPS, made, "default")
        seed = cluster.snapshot()
    assert isinstance(seed.store, MemoryStore)
    begun = time.monotonic()
    stores = [seed.store.fork() for _ in range(FORKS)]
    print(f"{FORKS} forks of a store of {stores[0].count('/', '0'):,} keys: {time.monotonic() - begun:.3f} s")
    running: list[ControlPlane] = []
    for _ in range(3):
        running.clear()
        gc.collect()  # of the round before
        begun, used = time.monotonic(), time.process_time()
        for _ in range(FORKS):
            fork = seed.cluster()
            fork.start()
            running.append(fork)
            assert fork.client.get(CONFIG_MAPS, "seed-7", "default")
        seconds, used = time.monotonic() - begun, time.process_time() - used
        for fork in running:
            fork.close()
        print(
            f"{FORKS} forks of a cluster of {SEEDED:,} objects, all served at once: {seconds:.2f} s, {used:.2f} of CPU (target 2)"
        )


def main() -> None:
    """Measure everything once."""
    with tempfile.TemporaryDirectory() as name:
        durable_writes(Path(name))
        filled_cache(Path(name))
    forks()


if __name__ == "__main__":
    main()
