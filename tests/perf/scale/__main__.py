"""Runs the load: ``./dev scale --nodes 100``; see docs/how-to/measure-a-large-cluster.md."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvloop
from servers_under_load import TOKEN, pace

from scale import observers, report, servers, shapes
from scale.api import Api, trusting
from scale.hollow_node import RENEW_SECONDS, Watches
from scale.http_connections import Connections
from scale.samples import Samples, own_delay

NODES_PER_PROCESS = 500
LOOK_SECONDS = 1.0
PATIENCE_SECONDS = 600.0
POD_LIFETIME_SECONDS = 20.0
REGISTRATIONS_PER_SECOND = 100


@dataclass(frozen=True)
class Load:
    """What to do, from the command line."""

    nodes: int
    pods: int
    fill: float
    rest: float
    churn: float
    rate: float
    pace: float
    container: float
    watches: Watches
    http1: bool
    informers: int
    output: Path


@dataclass
class Bench:
    """A run in the making."""

    cluster: servers.Cluster
    load: Load
    samples: Samples = field(default_factory=Samples)
    phases: list[report.Phase] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    nodes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    share: float = 1.0
    """Of the rates that are asked for: less where the machine is slower than they are meant for."""

    async def run(self) -> None:
        """Run all phases."""
        connections = Connections(self.cluster.urls, trusting())
        api = Api(connections, TOKEN, self.samples)
        names = shapes.namespaces_of(self.load.nodes)
        watcher = observers.PodWatcher(self.samples)
        looking = asyncio.create_task(self._look())
        background = [asyncio.create_task(watcher.run(api))]
        watched = observers.INFORMERS * self.load.informers
        background += [asyncio.create_task(api.watch(path)) for path in watched]
        background.append(asyncio.create_task(own_delay(self.samples)))
        try:
            await self._phase(looking, "nodes", self._nodes(api))
            if self.load.watches is not Watches.NONE:
                await shapes.create_namespaces(api, names)
                background.append(asyncio.create_task(observers.probe(api, watcher, names)))
                background.append(asyncio.create_task(observers.operate(api, names[0])))
            if self.load.pods:
                await self._phase(looking, "density", self._density(api, watcher))
            await self._phase(looking, "rest", asyncio.sleep(self.load.rest))
            if self.load.churn:
                await self._phase(looking, "churn", self._churn(api, watcher, names))
                await self._phase(looking, "afterwards", asyncio.sleep(min(self.load.rest, 30.0)))
        finally:
            for task in (*background, looking):
                task.cancel()
            results = await asyncio.gather(*background, looking, return_exceptions=True)
            await connections.close()
        failures = [str(each) for each in results if isinstance(each, Exception)]
        if failures:
            raise RuntimeError("; ".join(failures))

    async def _phase(self, looking: asyncio.Task[None], name: str, work: Any) -> None:
        measured = await asyncio.to_thread(pace)
        self.share = min(1.0, self.load.pace / measured) if self.load.pace else 1.0
        print(f"{name} (pace {measured:.3f} CPU s, {self.share:.2f} of the rates) …", flush=True)
        begin = time.monotonic()
        gc.collect()
        working = asyncio.ensure_future(work)
        # A server that ends is noticed by those who look at it: without it the work would never be done.
        try:
            await asyncio.wait({working, looking}, return_when=asyncio.FIRST_COMPLETED)
            if looking.done():
                looking.result()
            await working
        finally:  # of a run that is broken off, what was measured is told as well
            working.cancel()
            self._ended(report.Phase(name, begin, time.monotonic(), measured))

    def _ended(self, phase: report.Phase) -> None:
        name = phase.name
        self.phases.append(phase)
        stored = self.cluster.stored_bytes() / report.MEBIBYTE
        of = f", {self.share:.2f} of the rates" if self.share < 1.0 else ""
        self.facts[f"phase {name}"] = f"{phase.seconds:.0f} s{of}, the store's files {stored:.1f} MiB"
        used = ", ".join(
            f"{row.server} {row.cores:.2f} cores {row.mebibytes:.0f} MiB"
            for row in report.rows_of(report.Run("", [], self.samples, self.cluster.history, {}), phase)
        )
        print(f"  {phase.seconds:.0f} s: {used}; store {stored:.0f} MiB", flush=True)

    async def _look(self) -> None:
        while True:
            self.cluster.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def _nodes(self, api: Api) -> None:
        registration = max(RENEW_SECONDS, self.load.nodes / REGISTRATIONS_PER_SECOND)
        for number, first in enumerate(range(0, self.load.nodes, NODES_PER_PROCESS)):
            count = min(NODES_PER_PROCESS, self.load.nodes - first)
            name = f"load-{number}"
            command = [
                sys.executable, "-m", "scale.node_process", "--servers", ",".join(self.cluster.urls),
                "--first", str(first), "--count", str(count), "--start", str(self.load.container),
                "--file", str(self.cluster.folder / f"{name}.json"), "--registration", str(registration),
                "--watches", self.load.watches.value, *(["--http1"] if self.load.http1 else []),
            ]  # fmt: skip
            self.nodes[name] = await asyncio.to_thread(
                subprocess.Popen, command, stdin=subprocess.PIPE, cwd=Path(__file__).parents[1]
            )
            self.cluster.pids[name] = self.nodes[name].pid

        async def registered() -> bool:
            leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
            answer = await api.call("LIST leases", "GET", f"{leases}?limit=1")
            return len(answer["items"]) + answer["metadata"].get("remainingItemCount", 0) >= self.load.nodes

        await self._until(registered, "nodes registered")

    async def _density(self, api: Api, watcher: observers.PodWatcher) -> None:
        groups = shapes.density(self.load.nodes, self.load.pods)
        wanted = sum(group.size for group in groups)
        await shapes.create_groups(api, groups, self.load.fill * self.share)

        async def filled() -> bool:
            return len(watcher.running) >= wanted

        await self._until(filled, "pods ran", lambda: f"{len(watcher.running)} of {wanted}")

    async def _churn(self, api: Api, watcher: observers.PodWatcher, names: list[str]) -> None:
        churn = shapes.Churn(api, names, self.load.rate * self.share, POD_LIFETIME_SECONDS, watcher.sent)
        await churn.run(self.load.churn)
        self.facts["pods that could not be created or deleted"] = churn.errors

    async def _until(self, done: Any, what: str, told: Any = lambda: "") -> None:
        begin = time.monotonic()
        while not await done():
            if time.monotonic() > begin + PATIENCE_SECONDS:
                raise RuntimeError(f"not all {what} within {PATIENCE_SECONDS:.0f} s: {told()}")
            await asyncio.sleep(0.5)

    def collect(self) -> None:
        """End the nodes and take what they measured."""
        for process in self.nodes.values():
            process.stdin.close()
        for name, process in self.nodes.items():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            with suppress(FileNotFoundError):
                self.samples.load(self.cluster.folder / f"{name}.json")


def asked(words: Sequence[str] | None = None) -> tuple[Load, servers.Wanted]:
    """Return what a command line asks for."""
    parser = argparse.ArgumentParser(prog="./dev scale", description=__doc__)
    parser.add_argument("--nodes", type=int, default=100, help="hollow nodes")
    parser.add_argument("--pods", type=int, default=30, help="pods a node; 0 leaves the density out")
    parser.add_argument("--fill", type=float, default=20.0, help="pods that the density asks for in a second")
    parser.add_argument("--rest", type=float, default=30.0, help="seconds of rest when all pods run")
    parser.add_argument("--churn", type=float, default=60.0, help="seconds of creates and deletes; 0 leaves them out")
    parser.add_argument("--rate", type=float, default=10.0, help="creates, and deletes, a second")
    parser.add_argument(
        "--pace", type=float, default=0.0,
        help="seconds of the calibration on the machine that the rates are meant for: a slower one is asked for less, in proportion",
    )  # fmt: skip
    parser.add_argument("--container", type=float, default=0.2, help="seconds that a container takes to start and stop")
    parser.add_argument("--informers", type=int, default=1, help="further clients that watch every kind")
    watches = parser.add_mutually_exclusive_group()
    watches.add_argument("--pods-only", action="store_true", help="nodes watch their pods and nothing else")
    watches.add_argument(
        "--leases-only", action="store_true", help="idle nodes: leases and statuses, a connection each, and no pods"
    )
    parser.add_argument(
        "--http1", action="store_true", help="a connection for each watch, instead of one of HTTP/2 for a node's"
    )
    parser.add_argument("--api-servers", type=int, default=1, help="API servers; more than one takes --etcd")
    parser.add_argument("--etcd", action="store_true", help="store everything in an etcd instead of SQLite")
    for word in ("apiserver", "controller-manager", "scheduler"):
        parser.add_argument(f"--{word}-arg", action="append", default=[], metavar="FLAG[=VALUE]", help="a further flag")
    parser.add_argument(
        "--output", type=Path, help="folder of the report; a new one in the temporary folder unless told"
    )
    given = vars(parser.parse_args(words))
    extra = {
        word: [f"--{flag.removeprefix('--')}" for flag in given.pop(f"{word.replace('-', '_')}_arg")]
        for word in ("apiserver", "controller-manager", "scheduler")
    }
    wanted = servers.Wanted(given["nodes"], given.pop("api_servers"), given.pop("etcd"), extra)
    if wanted.api_servers > 1 and not wanted.etcd:
        parser.error("several API servers need --etcd")
    given["watches"] = Watches.PODS if given.pop("pods_only") else Watches.ALL
    if given.pop("leases_only"):
        given |= {"watches": Watches.NONE, "pods": 0, "churn": 0.0, "informers": 0}
    given["output"] = given["output"] or Path(tempfile.mkdtemp(prefix="scale-"))
    return Load(**given), wanted


def run(load: Load, wanted: servers.Wanted) -> None:
    """Run the load and write its report, also that of a run that broke off."""
    folder = Path(tempfile.mkdtemp(prefix="scale-run-"))
    bench = None
    try:
        with servers.running(folder, wanted) as cluster:
            cluster.pids["load-observers"] = os.getpid()
            bench = Bench(cluster, load)
            bench.facts["load"] = {
                key: value.value if isinstance(value, Watches) else value
                for key, value in vars(load).items()
                if key != "output"
            }
            bench.facts["servers"] = {"API servers": wanted.api_servers, "store": "etcd" if wanted.etcd else "SQLite"}
            try:
                uvloop.run(bench.run())
            finally:
                bench.collect()
    finally:
        if bench is not None and bench.phases:
            title = f"{load.nodes} nodes, {load.pods} pods each"
            done = report.Run(
                title, bench.phases, bench.samples, bench.cluster.history, bench.facts, bench.cluster.stored
            )
            report.write(done, load.output)
            print(report.text(done))
            print(f"the report is in {load.output}")
        for log in folder.glob("*.log"):
            load.output.mkdir(parents=True, exist_ok=True)
            shutil.copy(log, load.output)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the servers are ended, and what was measured is told
    run(*asked())
