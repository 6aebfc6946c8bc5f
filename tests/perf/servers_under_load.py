"""Servers as processes of their own, their CPU and memory, and wrk to load them."""

from __future__ import annotations

import http.client
import json
import os
import resource
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import IO

from hyperkube_testing.peers.ports import free_port

BIN = Path(sys.executable).parent
LOAD = Path(__file__).with_name("load.lua")
TOKEN = "0123456789abcdef"
CONNECTIONS, SECONDS = 32, 3
_LONGER = (1, 3, 9)
"""A share of nothing is none: a server that got no turn on the machine in the time is asked again, times as long."""
_TICKS = os.sysconf("SC_CLK_TCK")


PACE = """
import asyncio, decimal, email.message, http.client, sqlite3
from dataclasses import make_dataclass
for number in range(300):
    make_dataclass(f"Made{number}", [("a", int), ("b", str), ("c", float), ("d", bool)], frozen=True, slots=True)
"""
"""What a start is made of: imports, and classes that are made. Its CPU is the unit, so that a slow machine, or one that
is slow because others use it, changes both alike."""


def wrk() -> str:
    """Return where wrk is: ask before anything is started, as it is a minute to the first load.

    Raises:
        SystemExit: it is not installed.
    """
    found = shutil.which("wrk")
    if found is None:
        raise SystemExit("this needs wrk, which ./dev servers leaves out as no test needs it: apt-get install wrk")
    return found


def pace() -> float:
    """Return the CPU seconds of `PACE`."""
    return cpu_of([sys.executable, "-c", PACE])


def cpu_of(command: list[str]) -> float:
    """Run a command; return its CPU seconds."""
    before = _used(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    return _used(resource.RUSAGE_CHILDREN) - before


def own_cpu() -> float:
    """Return the CPU seconds of this process so far."""
    return _used(resource.RUSAGE_SELF)


def _used(whose: int) -> float:
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that is made over and over; see ``load.lua`` for ``@`` and ``#``."""

    path: str
    method: str = "GET"
    body: bytes = b""
    media: str = "application/json"
    accept: str = "application/json"


@dataclass(frozen=True, slots=True)
class Measured:
    """What a load came to; `cpu` is the server's, in microseconds of each request, `p50` and `p99` are milliseconds."""

    rate: float
    p50: float
    p99: float
    cpu: float


def mean(turns: list[Measured]) -> Measured:
    """Return the mean of several loads of the same length; the CPU is that of a request of all of them."""
    rates = [turn.rate for turn in turns]
    spent = sum(turn.rate * turn.cpu for turn in turns) / sum(rates)
    return Measured(fmean(rates), fmean(turn.p50 for turn in turns), fmean(turn.p99 for turn in turns), spent)


class Served:
    """A server process that listens with TLS on loopback."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: IO[bytes]) -> None:
        self.process, self.port = process, port
        self._log = log
        self._trust = ssl.create_default_context()
        self._trust.check_hostname = False
        self._trust.verify_mode = ssl.CERT_NONE

    def said(self) -> str:
        """Return what the process has printed so far."""
        return os.pread(self._log.fileno(), 1 << 24, 0).decode()

    def connect(self) -> http.client.HTTPSConnection:
        """Return a connection, not made yet."""
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self._trust, timeout=60)

    def send(self, method: str, path: str, body: object = None, accept: str = "application/json") -> tuple[int, bytes]:
        """Make one request; return status and body."""
        connection = self.connect()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "Accept": accept}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    def cpu(self) -> float:
        """Return the CPU seconds of the process."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self) -> tuple[float, float]:
        """Return MiB of resident and of proportional memory."""
        rows = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()
        size = {row.split()[0]: int(row.split()[1]) / 1024 for row in rows if row.startswith(("Rss:", "Pss:"))}
        return size["Rss:"], size["Pss:"]

    def wait(self, path: str, pause: float = 0.004) -> None:
        """Wait until a path is answered with 200.

        Raises:
            RuntimeError: the process has ended, or does not know the user of `TOKEN` and never will.
        """
        while self.process.poll() is None:
            try:
                status, answer = self.send("GET", path)
                if status == 200:
                    return
                if status == 401:
                    raise RuntimeError(f"a server is started without the user of these measurements: {answer!r}")
            except (OSError, http.client.HTTPException):
                time.sleep(pause)
                continue
            time.sleep(pause)
        raise RuntimeError(f"a server ended with {self.process.returncode}: {self.said()[-500:]}")

    def load(self, ask: Ask, seconds: float = SECONDS) -> Measured:
        """Have wrk ask from all connections for a while: longer where the machine is so busy that hardly one is answered.

        Raises:
            RuntimeError: a request failed, or too few were answered however long it took.
        """
        for times in _LONGER:
            measured, count = self._load(ask, seconds * times)
            if count >= CONNECTIONS:
                return measured
        raise RuntimeError(f"{count} requests were answered in {seconds * _LONGER[-1]:.0f} s: {ask}")

    def _load(self, ask: Ask, seconds: float) -> tuple[Measured, int]:
        told = {"METHOD": ask.method, "PATH": ask.path, "MEDIA": ask.media, "ACCEPT": ask.accept, "TOKEN": TOKEN}
        url = f"https://127.0.0.1:{self.port}"
        command = [wrk(), "-t2", f"-c{CONNECTIONS}", f"-d{seconds:.0f}s", "--timeout", "30s", "-s", str(LOAD), url]
        with tempfile.NamedTemporaryFile() as body:
            if ask.body:
                Path(body.name).write_bytes(ask.body)
                told["BODY"] = body.name
            before = self.cpu()
            environment = {**os.environ, **told}
            said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            spent = self.cpu() - before
        rate, p50, p99, count, failed = (float(word) for word in said.partition("RESULT ")[2].split())
        if failed:
            raise RuntimeError(f"{failed:.0f} of {count:.0f} requests failed: {ask}")
        return Measured(rate, p50, p99, spent / max(count, 1) * 1e6), int(count)


@contextmanager
def running(command: list[str], port: int, ready: str) -> Iterator[Served]:
    """Run a server until the end of the block; it is ready at its beginning."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            served = Served(process, port, said)
            served.wait(ready)
            yield served
        finally:
            process.terminate()
            process.wait(30)


def api_server(folder: Path, port: int, programs: Path = BIN) -> list[str]:
    """Return the command line of an API server on SQLite, with RBAC and an administrator's token."""
    tokens = _tokens(folder)
    return [
        str(programs / "hyperkube"), "apiserver", "--storage-backend=sqlite", f"--data-dir={folder / 'data'}",
        "--authorization-mode=Node,RBAC", f"--token-auth-file={tokens}", f"--secure-port={port}",
        "--bind-address=127.0.0.1", "--max-requests-inflight=4000", "--max-mutating-requests-inflight=2000",
    ]  # fmt: skip


def cluster(folder: Path, port: int) -> list[str]:
    """Return the command line of a whole cluster in one process, with an administrator's token."""
    return [
        str(BIN / "hyperkube"), "up", f"--data-dir={folder / 'cluster'}", f"--token-auth-file={_tokens(folder)}",
        f"--secure-port={port}", f"--kubelet-port={free_port()}",
    ]  # fmt: skip


def _tokens(folder: Path) -> Path:
    file = folder / "tokens.csv"
    file.write_text(f"{TOKEN},admin,1,system:masters\n")
    return file


def install_uvicorn(folder: Path) -> None:
    """Install uvicorn, which the house does not need, beside the data: what `bare` runs."""
    uv, home = str(BIN / "uv"), folder / "uvicorn"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(home)], check=True)
    wanted = ["uvicorn", "httptools", "uvloop"]
    subprocess.run([uv, "pip", "install", "--quiet", "--python", str(home / "bin/python"), *wanted], check=True)


@contextmanager
def bare(folder: Path, answer: bytes) -> Iterator[Served]:
    """Run uvicorn alone with the API server's certificate; it answers everything with the same bytes.

    Needs `install_uvicorn` before.
    """
    file, port, pki = folder / "answer", free_port(), folder / "data" / "pki"
    file.write_bytes(answer)
    pair = [str(pki / "apiserver.crt"), str(pki / "apiserver.key")]
    program = str(Path(__file__).with_name("bare_server.py"))
    with running([str(folder / "uvicorn/bin/python"), program, str(port), *pair, str(file)], port, "/") as served:
        yield served
