"""How fast the etcd store is, beside bare gRPC calls of the same kind to the same etcd in the same seconds.

Run by hand: ``.venv/bin/python tests/perf/bench_etcd.py``. Rounds of both alternate; read the ratios, of which the
median is printed. The target is 0.8. Nothing here fails.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import grpc
from hyperkube_storage.etcd import Access, EtcdStore
from hyperkube_storage.etcd.etcdrpc import KVStub, rpc_pb2
from hyperkube_testing.peers.ports import free_port

from hyperkube.storage.store import Compare, Put, StoreUnavailable

SECONDS = 1.0
ROUNDS = 7
THREADS = (1, 16)
VALUE = b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"bench","namespace":"default"},"data":{"k":"v"}}' * 8


@contextmanager
def etcd() -> Iterator[str]:
    """Start an etcd; yield its URL."""
    if shutil.which("etcd") is None:
        sys.exit("the program etcd is not installed (Debian package etcd-server)")
    url, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "etcd", f"--data-dir={folder}/data", "--name=one", f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}", f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=one={peer}", "--unsafe-no-fsync",
        ]  # fmt: skip
        with Path(folder, "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield url
        finally:
            process.terminate()
            process.wait()


def rate(call: Callable[[], object], threads: int) -> float:
    """Return calls per second of so many threads."""
    done = [0] * threads
    end = time.monotonic() + SECONDS

    def work(number: int) -> None:
        while time.monotonic() < end:
            call()
            done[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done) / SECONDS


def pairs(url: str, store: EtcdStore) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """Return kind of call → the same call bare and through the store."""
    stub, numbers = KVStub(grpc.insecure_channel(url.removeprefix("http://"))), count()
    store.txn([], [Put("/bench/one", VALUE)])
    get = rpc_pb2.RangeRequest(key=b"/bench/one")
    page = rpc_pb2.RangeRequest(key=b"/bench/page/", range_end=b"/bench/page0", limit=100)
    for number in range(100):
        store.txn([], [Put(f"/bench/page/{number:03}", VALUE)])

    def create() -> object:
        key = f"/bench/bare/{next(numbers)}".encode()
        put = rpc_pb2.RequestOp(request_put=rpc_pb2.PutRequest(key=key, value=VALUE))
        compare = rpc_pb2.Compare(result=rpc_pb2.Compare.EQUAL, target=rpc_pb2.Compare.MOD, key=key, mod_revision=0)
        other = rpc_pb2.RequestOp(request_range=rpc_pb2.RangeRequest(key=key))
        return stub.Txn(rpc_pb2.TxnRequest(compare=[compare], success=[put], failure=[other]), 4.0)

    def create_in_store() -> object:
        key = f"/bench/store/{next(numbers)}"
        return store.txn([Compare(key, 0)], [Put(key, VALUE)])

    return {
        "get": (lambda: stub.Range(get, 4.0), lambda: store.get("/bench/one")),
        "create": (create, create_in_store),
        "page of 100": (
            lambda: stub.Range(page, 4.0),
            lambda: store.range("/bench/page/", "/bench/page0", limit=100),
        ),
    }


def main() -> None:
    """Print a line for each kind of call and number of threads."""
    with etcd() as url:
        store = EtcdStore(Access([url]), history_seconds=0)
        while True:
            try:
                store.revision()
                break
            except StoreUnavailable:
                time.sleep(0.1)
        for name, (bare, ours) in pairs(url, store).items():
            for threads in THREADS:
                rounds = [(rate(bare, threads), rate(ours, threads)) for _ in range(ROUNDS)]
                ratio = statistics.median(one / other for other, one in rounds)
                best = max(rounds)
                print(f"{name}, {threads} threads: {best[1]:.0f}/s of {best[0]:.0f}/s, ratio {ratio:.2f}", flush=True)
        store.close()


if __name__ == "__main__":
    main()
