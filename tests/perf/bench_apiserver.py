"""How fast the API server is, beside what the machine gives in the same minutes.

Run by hand: ``.venv/bin/python tests/perf/bench_apiserver.py``. Reads are set against an edge that serves the same bytes
without any API server behind it, writes against SQLite committing the same bytes. Read the ratios and the CPU per request;
rates alone say more about who else is using the machine. Nothing here fails.
"""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import bench_edge  # type: ignore[import-not-found]  # beside this file, not a package
import orjson

from hyperkube.apiserver.server import ApiServer
from hyperkube.machinery.users import LOOPBACK
from hyperkube.serving.edge import Edge
from hyperkube.serving.exchange import Answer, Handler, HttpRequest, Response

SECONDS = 2.0
THREADS = 16
PODS = 1000
ROOT = "/api/v1/namespaces/default"
TOKEN = "0123456789abcdef"  # what `bench_edge.load` sends

POD = {
    "metadata": {"labels": {"app": "bench", "tier": "backend"}, "annotations": {"example.org/owner": "team-a"}},
    "spec": {
        "automountServiceAccountToken": False,
        "containers": [
            {
                "name": "app",
                "image": "registry.example/app:1.2.3",
                "args": ["--listen=:8080", "--log-level=info"],
                "ports": [{"name": "http", "containerPort": 8080}],
                "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                "resources": {
                    "requests": {"cpu": "100m", "memory": "128Mi"},
                    "limits": {"cpu": "500m", "memory": "256Mi"},
                },
                "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10},
                "volumeMounts": [{"name": "cfg", "mountPath": "/etc/app"}],
            }
        ],
        "volumes": [{"name": "cfg", "configMap": {"name": "app-config"}}],
    },
}


class Same:
    """Answers every request with the same bytes: an edge without a server."""

    def __init__(self, answer: Response) -> None:
        self._answer = answer

    def handle(self, request: HttpRequest) -> Answer:
        return self._answer

    def hot(self, request: HttpRequest) -> Response | None:
        return self._answer if len(self._answer.body) < 1 << 20 else None

    def is_long_running(self, request: HttpRequest) -> bool:
        return False


def cpu() -> float:
    """Return the CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def loaded(handler: Handler, path: str) -> tuple[float, float]:
    """Load an edge with a handler behind it from another process; return requests a second and CPU us of each."""
    edge = Edge(handler)
    edge.start()
    before = cpu()
    command = [sys.executable, bench_edge.__file__, str(edge.port), path, "32", "1"]
    answered = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    spent = cpu() - before
    edge.close()
    return answered / bench_edge.SECONDS, spent / max(answered, 1) * 1e6


def crowded(call: Callable[[int], object]) -> tuple[float, float]:
    """Make calls from many threads; return calls a second and CPU us of each."""
    numbers, done = count(), [0] * THREADS
    end = time.monotonic() + SECONDS

    def work(place: int) -> None:
        while time.monotonic() < end:
            call(next(numbers))
            done[place] += 1

    before, begun = cpu(), time.monotonic()
    threads = [threading.Thread(target=work, args=(place,)) for place in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.monotonic() - begun), (cpu() - before) / sum(done) * 1e6


def bare_commits(folder: str, size: int) -> tuple[float, float]:
    """Commit rows of a size to SQLite, durably and one by one; return commits a second and CPU us of each."""
    connection = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
    connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (v BLOB)")
    value, commits = b"x" * size, 0
    before, end = cpu(), time.monotonic() + SECONDS
    while time.monotonic() < end:
        connection.execute("INSERT INTO t VALUES (?)", (value,))
        commits += 1
    connection.close()
    return commits / SECONDS, (cpu() - before) / commits * 1e6


@contextmanager
def serving(folder: str) -> Iterator[ApiServer]:
    """Run a server on SQLite with the default plugins, RBAC and the pods that reads are about."""
    tokens = Path(folder) / "tokens.csv"
    tokens.write_text(f"{TOKEN},admin,1,system:masters\n")
    options = {
        "storage-backend": "sqlite", "data-dir": folder, "authorization-mode": ["Node", "RBAC"],
        "token-auth-file": str(tokens),
    }  # fmt: skip
    server = ApiServer(options=options)
    server.start()
    while not server.ready():
        time.sleep(0.02)
    send(server, "POST", f"{ROOT}/serviceaccounts", {"metadata": {"name": "default"}})
    for number in range(PODS):
        send(server, "POST", f"{ROOT}/pods", named(POD, f"seed-{number}"))
    yield server
    server.close()


def named(obj: dict[str, object], name: str) -> dict[str, object]:
    """Return an object with a name."""
    return {**obj, "metadata": {**obj.get("metadata", {}), "name": name}}  # type: ignore[dict-item]  # a literal above


def send(server: ApiServer, method: str, path: str, body: object = None, media: str = "application/json") -> Response:
    """Make a request as HTTP would, without a socket.

    Raises:
        RuntimeError: it is refused.
    """
    content = b"" if body is None else orjson.dumps(body)
    request = HttpRequest(method=method, path=path, headers={"content-type": media}, body=content, user=LOOPBACK)
    answer = server.handler.handle(request)
    if not isinstance(answer, Response) or answer.status >= 300:
        raise RuntimeError(f"{method} {path}: {answer}")
    return answer


def writes(server: ApiServer) -> dict[str, Callable[[int], object]]:
    """Return the writes that are measured, by name."""
    text = "x" * 1024

    def status(number: int) -> object:
        condition = {"type": "Ready", "status": "True", "message": f"w{number}"}
        body = {"metadata": {"name": f"seed-{number % 100}"}, "status": {"phase": "Running", "conditions": [condition]}}
        return send(server, "PUT", f"{ROOT}/pods/seed-{number % 100}/status", body)

    def patch(number: int) -> object:
        body = {"metadata": {"labels": {"rev": f"w{number}"}}}
        return send(server, "PATCH", f"{ROOT}/pods/seed-{number % 100}", body, "application/merge-patch+json")

    return {
        "create configmap": lambda number: send(
            server, "POST", f"{ROOT}/configmaps", named({"data": {"payload": text}}, f"c{number}")
        ),
        "create pod": lambda number: send(server, "POST", f"{ROOT}/pods", named(POD, f"w{number}")),
        "patch label": patch,
        "put status": status,
    }


def show(name: str, measured: tuple[float, float], bare: tuple[float, float]) -> None:
    """Print one line of the table."""
    share = measured[0] / bare[0] if bare[0] else 0.0
    print(f"{name:18} {measured[0]:9,.0f}/s {measured[1]:8,.0f} us {bare[0]:11,.0f}/s {bare[1]:8,.0f} us {share:8.0%}")


def main() -> None:
    """Measure everything once and print a table."""
    print(f"{'':18} {'rate':>11} {'CPU':>11} {'bare rate':>13} {'CPU':>11} {'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder, serving(folder) as server:
        for name, path in (("get pod", f"{ROOT}/pods/seed-0"), (f"list {PODS} pods", f"{ROOT}/pods")):
            answer = send(server, "GET", path)
            show(name, loaded(server.handler, path), loaded(Same(answer), path))
        size = len(send(server, "GET", f"{ROOT}/pods/seed-0").body)
        bare = bare_commits(folder, size)
        for name, call in writes(server).items():
            show(name, crowded(call), bare)


if __name__ == "__main__":
    main()
