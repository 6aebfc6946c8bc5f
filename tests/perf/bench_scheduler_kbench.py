"""The scheduler beside kube-scheduler's figures: the tool of ../shared/bench against servers as processes of their own.

Run by hand: ``.venv/bin/python tests/perf/bench_scheduler_kbench.py``; takes two minutes. Needs ../shared and a Go
compiler. Client and servers share the machine, so the same run tells how many pods the API server takes per second
without a scheduler: read the others beside that.
"""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPSConnection
from pathlib import Path

import orjson
from hyperkube_testing.peers.ports import free_port
from servers_under_load import BIN, TOKEN, Served, api_server, running

SHARED = Path(__file__).resolve().parents[3] / "shared" / "bench"
KUBE = {100: 390.0, 1000: 262.0, 5000: 243.0}
"""Nodes → pods per second of kube-scheduler 1.20.2; source: ../shared/bench/README.md."""
KUBE_SCALE_SECONDS = 2.5
PODS, REPLICAS = 2000, 1000
PACED_SECONDS, SHARE, SENDERS = 10.0, 0.8, 4
CONTROLLERS = "deployment-controller,replicaset-controller,garbage-collector-controller,namespace-controller"
POD = {
    "containers": [
        {"name": "c", "image": "registry/app:1", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    ],
}


def missing() -> str:
    """Return what this needs and is not there, or the empty string."""
    if not (SHARED / "kbench" / "main.go").is_file():
        return "../shared/bench"
    return "" if shutil.which("go") else "a Go compiler"


def built(folder: Path) -> Path:
    """Build the tool; return the program."""
    program = folder / "kbench"
    environment = {**os.environ, "GO111MODULE": "off", "CGO_ENABLED": "0", "GOCACHE": str(folder / "cache")}
    source = str(SHARED / "kbench" / "main.go")
    subprocess.run(["go", "build", "-o", str(program), source], check=True, env=environment)
    return program


class Bench:
    """The tool, against one API server."""

    def __init__(self, program: Path, port: int) -> None:
        self.program, self.port = program, port

    def run(self, word: str, *flags: str) -> dict[str, str]:
        """Run a subcommand; return the ``name=value`` pairs that it printed, percentiles of the last line among them.

        Raises:
            RuntimeError: it failed, or not all pods were bound.
        """
        server = ("--server", f"https://127.0.0.1:{self.port}", "--token", TOKEN, "--insecure")
        done = subprocess.run(
            [str(self.program), word, *server, *flags], capture_output=True, text=True, check=False, timeout=600
        )
        if done.returncode or "ok=false" in done.stdout or "TIMEOUT" in done.stdout:
            raise RuntimeError(f"kbench {word} failed:\n{done.stdout}{done.stderr}")
        return dict(re.findall(r"(\w+)=(\S+)", done.stdout))


@contextmanager
def beside(folder: Path, api: Served, *words: str) -> Iterator[None]:
    """Run a server that talks to the API server, until the end of the block."""
    kubeconfig = folder / "kubeconfig"
    cluster = {"server": f"https://127.0.0.1:{api.port}", "insecure-skip-tls-verify": True}
    document = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": TOKEN}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    kubeconfig.write_bytes(orjson.dumps(document))
    common = (f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0")
    with (folder / f"{words[0]}.log").open("wb") as log:
        process = subprocess.Popen([str(BIN / "hyperkube"), *words, *common], stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)


def lag(port: int, rate: float, seconds: float = PACED_SECONDS) -> tuple[float, float, float]:
    """Create pods at a steady rate; return the rate that was reached, and p50 and p99 ms from the answer to the node."""
    sent: dict[str, float] = {}
    bound: dict[str, float] = {}
    wanted, begin = int(rate * seconds), time.perf_counter() + 0.5
    done = threading.Event()
    watcher = _connection(port)
    watcher.request("GET", "/api/v1/namespaces/kbench/pods?watch=1&labelSelector=app%3Dpaced", headers=_HEADERS)
    stream = watcher.getresponse()

    def watch() -> None:
        for line in stream:
            event = orjson.loads(line)["object"]
            if event["spec"].get("nodeName"):
                bound.setdefault(event["metadata"]["name"], time.perf_counter())
            if len(bound) >= wanted:
                done.set()
                return

    def send(share: int) -> None:
        connection = _connection(port)
        for index in range(share, wanted, SENDERS):
            time.sleep(max(0.0, begin + index / rate - time.perf_counter()))
            metadata = {"name": f"paced-{index}", "labels": {"app": "paced"}}
            connection.request(
                "POST", "/api/v1/namespaces/kbench/pods", orjson.dumps({"metadata": metadata, "spec": POD}), _HEADERS
            )
            answer = connection.getresponse()
            answer.read()
            if answer.status == 201:
                sent[f"paced-{index}"] = time.perf_counter()
        connection.close()

    threads = [threading.Thread(target=send, args=(share,)) for share in range(SENDERS)]
    for thread in (*threads, threading.Thread(target=watch, daemon=True)):
        thread.start()
    for thread in threads:
        thread.join()
    reached = len(sent) / (time.perf_counter() - begin)
    if not done.wait(60):
        raise RuntimeError(f"{wanted - len(bound)} of {wanted} pods were not bound")
    watcher.close()
    waits = sorted((bound[name] - at) * 1000 for name, at in sent.items())
    return reached, waits[len(waits) // 2], waits[len(waits) * 99 // 100]


_HEADERS = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}


def _connection(port: int) -> HTTPSConnection:
    trust = ssl.create_default_context()
    trust.check_hostname = False
    trust.verify_mode = ssl.CERT_NONE
    return HTTPSConnection("127.0.0.1", port, context=trust, timeout=120)


def _rate(told: dict[str, str], name: str) -> float:
    return float(told[name].removesuffix("/s"))


def main() -> None:
    """Measure everything, and print it beside kube-scheduler's figures."""
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kbench-")))
        port = free_port()
        api = stack.enter_context(running(api_server(folder, port), port, "/readyz"))
        bench = Bench(built(folder), port)
        bench.run("seed", "--pods=200")
        begin = time.perf_counter()
        bench.run("seed", f"--pods={PODS}", "--ns=calibration")
        print(f"calibration: {PODS / (time.perf_counter() - begin):,.0f} pods created per second without a scheduler")
        for namespace in ("kbench", "calibration"):
            bench.run("clean", f"--ns={namespace}")
        stack.enter_context(beside(folder, api, "scheduler"))
        with beside(folder, api, "controller-manager", f"--controllers={CONTROLLERS}"):
            scale = float(bench.run("scale", "--nodes=100", f"--replicas={REPLICAS}")["total_s"])
            ratio = KUBE_SCALE_SECONDS / scale
            print(
                f"Deployment 0 to {REPLICAS:,}: {scale:.2f} s (kube {KUBE_SCALE_SECONDS} s, {ratio:.1f} times as fast)"
            )
        capacity = 0.0
        for nodes, kube in KUBE.items():
            told = bench.run("sched", f"--nodes={nodes}", f"--pods={PODS}")
            rate, capacity = _rate(told, "scheduled_rate"), _rate(told, "create_rate")
            print(
                f"{nodes:5,} nodes: {rate:,.0f} pods/s (kube {kube:.0f}, {rate / kube:.1f} times as many),"
                f" created {capacity:,.0f}/s, p99 from created to bound {told['p99']}"
            )
        reached, middle, worst = lag(port, SHARE * capacity)
        print(f"at {reached:,.0f} creates/s, {SHARE:.0%} of capacity: lag p50 {middle:.0f} ms, p99 {worst:.0f} ms")
    print(f"load of the machine after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    if missing():
        sys.exit(f"this needs {missing()}")
    main()
