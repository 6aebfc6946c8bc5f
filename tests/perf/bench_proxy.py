"""What a proxy costs with many Services of two endpoints: its start, one change, and its memory.

Run by hand, as root and on a quiet machine: ``.venv/bin/python tests/perf/bench_proxy.py --services 1000``; it takes about
half a minute, and says on stderr how far it is. The proxy is started in the laboratory of the proxy's recordings, where a
start is over when connections to the Services are answered and the proxy rests. Shown are medians of ``--rounds`` starts
and of `CHANGES` changes in the last of them, how much of it the programs took that the proxy ran (``nft``,
``iptables-restore``), and the pace of the machine before and after each start (`servers_under_load.PACE`), with what
kube-proxy 1.36.2 needed on the same work at a busy hour. Exits with 1 when a figure is missed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hyperkube_testing.peers.ports import free_port
from servers_under_load import BIN, TOKEN, pace, running  # type: ignore[import-not-found]  # beside this file, not a package

GOLDEN = Path(__file__).parents[3] / "shared" / "golden-proxy"
USERS = GOLDEN.parent / "golden" / "users.csv"
LIMITS = {
    ("iptables", 1000): (0.7, 0.07, 1.2 * 87),
    ("nftables", 1000): (0.5, 0.24, 1.2 * 99),
    ("iptables", 5000): (33.0, 0.57, 1.2 * 153),
    ("nftables", 5000): (7.1, 4.7, 1.2 * 199),
}
"""Of a start and a change in CPU seconds, and of resident memory in MiB."""
CHANGES = 5
SEEN = 20
"""So many Services, and the last one, are connected to before a start is over."""
_RELAY_PORT = 35989
_TICKS = os.sysconf("SC_CLK_TCK")


class Cpu(NamedTuple):
    """CPU seconds: of the proxy's own, and of the programs that it ran and that have ended."""

    own: float
    programs: float

    @classmethod
    def of(cls, process: int) -> Cpu:
        """Return what a process has used so far."""
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        user, system, child_user, child_system = (int(field) / _TICKS for field in fields[11:15])
        return cls(user + system, child_user + child_system)

    def since(self, before: Cpu) -> Cpu:
        """Return what came between."""
        return Cpu(self.own - before.own, self.programs - before.programs)


class Bench:
    """An API server full of Services, and the laboratory in which proxies serve them.

    The laboratory's own modules are scripts beside the recordings, and are imported from there.
    """

    def __init__(self, server: str, services: int) -> None:
        sys.path.insert(0, str(GOLDEN))
        self._lab, self._measure, self._scenario = map(importlib.import_module, ("lab", "measure", "scenario"))
        self._api = importlib.import_module("api").Api(server)
        self._services = services

    def create(self) -> None:
        """Create the node, the Services and their EndpointSlices."""
        self._api.clean(self._scenario.NODE_NAME)
        self._api.apply(self._scenario.node({}))
        self._api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "g-proxy"}})
        for number in range(self._services):
            if number % 500 == 0:
                said(f"{number} of {self._services} Services are made")
            wanted = self._measure.slice_of(number, 8080)
            self._api.ask("POST", "/apis/discovery.k8s.io/v1/namespaces/g-proxy/endpointslices", wanted)
            ports = [{"name": "http", "port": 80, "targetPort": 8080}]
            spec = {"clusterIP": self._measure.address(number), "ports": ports}
            made = {"metadata": {"name": f"svc-{number}"}, "spec": spec}
            self._api.ask("POST", "/api/v1/namespaces/g-proxy/services", made)

    @contextmanager
    def started(self, mode: str) -> Iterator[Started]:
        """Run a proxy in a new laboratory; it is there until the end of the block."""
        lab = self._lab.Lab(f"bp{os.getpid() % 10000}")
        with tempfile.TemporaryDirectory() as folder:
            kubeconfig = Path(folder) / "kubeconfig"
            kubeconfig.write_text(self._scenario.kubeconfig_text(_RELAY_PORT, self._api.token))
            flags = {"kubeconfig": kubeconfig, "proxy-mode": mode, "hostname-override": self._scenario.NODE_NAME}
            argv = [f"--{name}={value}" for name, value in (flags | self._scenario.FLAGS).items()]
            process = None
            try:
                lab.up()
                lab.relay(_RELAY_PORT, self._api.host, self._api.port)
                command = ["nsenter", f"--net={lab.path('node')}", str(BIN / "hyperkube"), "proxy", *argv]
                with (Path(folder) / "log").open("wb") as log:
                    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                yield Started(process.pid, lambda number, port: self._until(lab, number, port), self._change)
            except TimeoutError:
                sys.stderr.write((Path(folder) / "log").read_text()[-2000:])
                raise
            finally:
                if process is not None:
                    process.terminate()
                    process.wait()
                lab.down()

    def _until(self, lab: Any, number: int, port: int) -> None:
        self._measure.until(lab, self._measure.address(number), port, 300)

    def _change(self, number: int, port: int) -> None:
        self._api.apply(self._measure.slice_of(number, port))


class Started(NamedTuple):
    """A proxy in its laboratory.

    Attributes:
        process: its id.
        until: waits until a Service, by its number, answers from a port.
        change: has the endpoints of a Service, by its number, listen at another port.
    """

    process: int
    until: Callable[[int, int], None]
    change: Callable[[int, int], None]

    def start_cost(self, services: int) -> Cpu:
        """Wait until Services are served and the proxy rests; return what it used until then."""
        for number in [services - 1, *random.sample(range(services), SEEN)]:
            self.until(number, 8080)
        self.rest()
        return Cpu.of(self.process)

    def change_costs(self, services: int) -> list[Cpu]:
        """Change Services one after the other; return what each change cost."""
        costs = []
        for turn, number in enumerate(random.sample(range(services), CHANGES)):
            port = (8081, 8443)[turn % 2]
            before = Cpu.of(self.process)
            self.change(number, port)
            self.until(number, port)
            self.rest()
            costs.append(Cpu.of(self.process).since(before))
        return costs

    def rest(self, seconds: float = 1.5, most: float = 120.0) -> None:
        """Wait until the proxy, or a program that it runs, has used hardly any CPU for so long.

        Raises:
            TimeoutError: it never rests.
        """
        deadline = time.monotonic() + most
        quiet, last = 0.0, sum(Cpu.of(self.process))
        while quiet < seconds:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the proxy was busy for {most:g} s")
            time.sleep(0.25)
            now = sum(Cpu.of(self.process))
            busy = now - last > 0.015 or Path(f"/proc/{self.process}/task/{self.process}/children").read_text()
            quiet, last = (0.0 if busy else quiet + 0.25), now

    def most_memory(self) -> float:
        """Return the most resident memory that it had, in MiB."""
        lines = Path(f"/proc/{self.process}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def said(text: str) -> None:
    """Tell whoever waits how far it is."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def api_server(folder: Path, port: int) -> list[str]:
    """Return the command line of the laboratory's API server, which also knows the user of `servers_under_load`."""
    tokens = folder / "tokens.csv"
    tokens.write_text(f'{USERS.read_text().rstrip()}\n{TOKEN},bench,bench,"system:masters"\n')
    return [
        str(BIN / "hyperkube"), "apiserver", "--storage-backend=memory", "--bind-address=127.0.0.1",
        f"--secure-port={port}", f"--cert-dir={folder / 'certificates'}", f"--token-auth-file={tokens}",
        "--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112",
    ]  # fmt: skip


def main() -> int:
    """Print a table of figures and limits; return 1 when one is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--services", type=int, default=1000, choices=sorted({number for _, number in LIMITS}))
    parser.add_argument("--mode", action="append", choices=("iptables", "nftables"))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    modes = options.mode or ["iptables", "nftables"]
    starts, changes, memory = defaultdict(list), defaultdict(list), defaultdict(list)
    port = free_port()
    with tempfile.TemporaryDirectory() as name, running(api_server(Path(name), port), port, "/readyz"):
        bench = Bench(f"https://127.0.0.1:{port}", options.services)
        bench.create()
        paces = [pace()]
        for turn in range(options.rounds):
            for mode in modes:
                with bench.started(mode) as proxy:
                    starts[mode].append(proxy.start_cost(options.services))
                    said(f"{mode}, start {turn + 1} of {options.rounds}: {sum(starts[mode][-1]):.2f} CPU s")
                    if turn == options.rounds - 1:
                        changes[mode] = proxy.change_costs(options.services)
                    memory[mode].append(proxy.most_memory())
                paces.append(pace())
    print(f"{options.services} Services; load {os.getloadavg()[0]:.1f}, pace {min(paces):.2f}-{max(paces):.2f} s")
    missed = False
    for mode in modes:
        start, change, most = LIMITS[mode, options.services]
        for what, costs, limit in (("start", starts[mode], start), ("change", changes[mode], change)):
            found = statistics.median(sum(cost) for cost in costs)
            programs = statistics.median(cost.programs for cost in costs)
            missed = missed or found > limit
            print(f"{mode:9} {what:6} {found:7.3f} CPU s, of it programs {programs:6.3f}   at most {limit:.2f}")
        missed = missed or max(memory[mode]) > most
        print(f"{mode:9} memory {max(memory[mode]):7.1f} MiB   at most {most:.1f}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
