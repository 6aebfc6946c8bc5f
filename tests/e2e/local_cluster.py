"""A real ``hyperkube up`` as a process, the real kubectl against it, and a look at every process it leaves."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
import psutil
import yaml
from hyperkube_testing.peers.ports import free_port
from hyperkube_testing.peers.processor_waits import processor_waits

from hyperkube.client.discovery import ApiResource, discover
from hyperkube.client.http import HttpClient
from hyperkube.client.kubeconfig import client_from_kubeconfig
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import NotFound
from hyperkube.testing.waiting import eventually

HYPERKUBE = Path(sys.executable).with_name("hyperkube")
RUNNING_LINE = "Local Kubernetes cluster is running"
START_SECONDS = 40.0
QUICK_SECONDS = 8.0
"""How much processor time a start may take: the seconds of the clock are those of all programs of the machine."""
COMMAND_SECONDS = 90.0
NOTHING_MORE: Mapping[str, str] = {}


def processes_of(folder: Path) -> dict[int, str]:
    """Return pid → command line of the processes that have to do with a data folder, this one excepted."""
    needle = os.fsencode(folder)
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            line = (entry / "cmdline").read_bytes()
            place = os.fsencode((entry / "cwd").readlink())
            if any(needle in text for text in (line, (entry / "environ").read_bytes(), place)):
                found[int(entry.name)] = line.replace(b"\0", b" ").decode(errors="replace")[:200]
    return found


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return orjson.loads(self.out)


def run(
    words: Sequence[str | Path],
    *,
    env=None,
    input=None,  # noqa: A002  subprocess' own word for it
    check=True,
    timeout=COMMAND_SECONDS,
    **more,
) -> Answer:
    """Run a command to its end; with `check`, insist that it succeeds."""
    done = subprocess.run(
        [str(word) for word in words], env=env, input=input, capture_output=True, text=True, timeout=timeout,
        check=False, stdin=subprocess.DEVNULL if input is None else None, **more,
    )  # fmt: skip
    answer = Answer(done.returncode, done.stdout, done.stderr)
    if check:
        assert answer.code == 0, f"{' '.join(map(str, words))}: exit {answer.code}\n{answer.out}\n{answer.err}"
    return answer


def listens(address: str, port: int) -> bool:
    """Tell whether a connection is taken."""
    with socket.socket() as probe:
        return probe.connect_ex((address, port)) == 0


class _Waits:
    """How long the threads of a process have waited for a processor since a moment."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = processor_waits(pid)
        self._now = self._before

    def look(self) -> None:
        """Take in what it is now; of threads that have ended since it is known from the last look."""
        self._now = {**self._now, **processor_waits(self._pid)}

    def longest(self) -> float:
        """Return the seconds of the thread that has waited most."""
        return max((waited - self._before.get(thread, 0.0) for thread, waited in self._now.items()), default=0.0)


class LocalCluster:
    """One `hyperkube up`: started, asked with kubectl, ended."""

    def __init__(self, root: Path, *arguments: str, user: int | None = None, through: Sequence[str] = ()) -> None:
        """Make one in a folder; `user` starts it, or a command `through` which the line goes."""
        self.root = root
        self.port = free_port()
        self.kubelet_port = free_port()
        self.arguments = arguments
        self.user = user
        self.through = through
        self.kubeconfig = root / "admin.kubeconfig"
        self.output: list[str] = []
        self.process: subprocess.Popen[str] | None = None
        self._reader = threading.Thread()
        self._client: HttpClient | None = None
        self._resources: dict[str, ApiResource] = {}

    @property
    def command(self) -> list[str]:
        return [
            *self.through, str(HYPERKUBE), "up", "--data-dir", str(self.root), "--secure-port", str(self.port),
            "--kubelet-port", str(self.kubelet_port), *self.arguments,
        ]  # fmt: skip

    def start(self) -> float:
        """Start it and wait for the line that says it runs, which must be quick; return the seconds that took."""
        begun = time.monotonic()
        more = {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
            env={**os.environ, "HOME": str(self.root.parent)}, **more,
        )  # fmt: skip
        self.output = []
        self._forget()
        running = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(self.process, running), daemon=True)
        self._reader.start()
        while not running.wait(0.01):
            waited = time.monotonic() - begun
            if self.process.poll() is not None or waited > START_SECONDS:
                self.kill()
                raise AssertionError(f"no running cluster after {waited:.1f} s:\n{''.join(self.output)}")
        took = time.monotonic() - begun
        assert self.processor_seconds() < QUICK_SECONDS
        return took

    def _read(self, process: subprocess.Popen[str], running: threading.Event) -> None:
        for line in process.stdout:
            self.output.append(line)
            if RUNNING_LINE in line:
                running.set()
        process.stdout.close()

    def processor_seconds(self) -> float:
        """Return the processor time that its process has used."""
        used = psutil.Process(self.process.pid).cpu_times()
        return used.user + used.system

    def kill(self) -> None:
        """End it as a crash would: at once, and without a word."""
        self.process.kill()
        self.process.wait()

    def stop(self, number: int = signal.SIGTERM, within: float = 10.0) -> float:
        """End it with a signal, insist on exit code 0 and that no process is left; return the seconds that took.

        Those are left out for which one of its threads, the one of which it is most, waited for a processor.
        """
        begun, waits = time.monotonic(), _Waits(self.process.pid)
        self.process.send_signal(number)
        while (code := self.process.poll()) is None:
            waits.look()
            if time.monotonic() > begun + within + waits.longest():
                self.kill()
                raise AssertionError(f"still there {within:.0f} s after the signal:\n{''.join(self.output)}")
            time.sleep(0.03)
        took = time.monotonic() - begun - waits.longest()
        self._reader.join(10)  # its last words may say why it failed
        assert code == 0, f"exit code {code}\n{''.join(self.output)}"
        left = processes_of(self.root)
        assert not left, f"left behind: {left}"
        return took

    @contextlib.contextmanager
    def running(self) -> Iterator[LocalCluster]:
        """Run it for the length of a block; whatever happens, nothing of it stays."""
        try:
            self.start()
            yield self
            if self.process.poll() is None:
                self.stop()
        finally:
            self.end()

    def end(self) -> None:
        """Kill whatever is still there of it."""
        self._forget()
        if self.process is not None and self.process.poll() is None:
            self.kill()
        for pid in processes_of(self.root):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def environment(self) -> dict[str, str]:
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig), "HOME": str(self.root.parent / "home")}

    def kubectl(self, *words: str, namespace: str = "", env_more: Mapping[str, str] = NOTHING_MORE, **more) -> Answer:
        """Run kubectl to its end."""
        place = ["--namespace", namespace] if namespace else []
        return run(["kubectl", *place, *words], env={**self.environment(), **env_more}, **more)

    def open(
        self, *words: str, namespace: str = "", env_more: Mapping[str, str] = NOTHING_MORE, **more
    ) -> subprocess.Popen[str]:
        """Start a kubectl that runs on; the caller ends it (see `reading`)."""
        place = ["--namespace", namespace] if namespace else []
        return subprocess.Popen(
            ["kubectl", *place, *words], env={**self.environment(), **env_more}, text=True, bufsize=1,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL, **more},
        )  # fmt: skip

    @property
    def client(self) -> HttpClient:
        """The API as its administrator sees it, for what a test prepares and looks up: a kubectl costs 0.1 CPU s."""
        if self._client is None:
            self._client = client_from_kubeconfig(self.kubeconfig)
        return self._client

    def get(self, kind: str, name: str = "", *, selector: str = "", namespace: str = "default"):
        """Return an object, or without a name the objects of a kind, or of several, that a label selector chooses."""
        found = []
        for resource in map(self._resource, kind.split(",")):
            place = namespace if resource.namespaced else ""
            if name:
                return self.client.get(resource.gvr, name, place)
            found += self.client.list(resource.gvr, place, label_selector=selector).items
        return found

    def find(self, kind: str, name: str, *, namespace: str = "default"):
        """Return an object, an empty one as long as there is none."""
        try:
            return self.get(kind, name, namespace=namespace)
        except NotFound:
            return {}

    def _resource(self, kind: str) -> ApiResource:
        """Return a resource by its name, or by its kind in lower case."""
        if not self._resources:
            for resource in discover(self.client).resources:
                self._resources.setdefault(resource.gvr.resource, resource)
                self._resources.setdefault(resource.kind.lower(), resource)
        return self._resources[kind]

    def _forget(self) -> None:
        """Close the client: after a start another server answers."""
        if self._client is not None:
            self._client.close()
        self._client = None


class Reading:
    """The lines of a running program, as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def close(self) -> None:
        """Close the pipes of a program that has ended."""
        self._thread.join(30)
        for pipe in (self.process.stdout, self.process.stdin):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def has(self, text: str, seconds: float = 60.0) -> str:
        """Wait for a line with `text` in it; return it."""
        return eventually(
            lambda: next((line for line in list(self.lines) if text in line), ""),
            seconds,
            why=f"{text!r} in {self.lines}",
        )


@contextlib.contextmanager
def reading(process: subprocess.Popen[str]) -> Iterator[Reading]:
    """Read a program's lines for the length of a block, then end it."""
    try:
        lines = Reading(process)
        yield lines
    finally:
        process.terminate()
        process.wait(10)
        lines.close()


class Room:
    """A namespace of a test's own in a shared cluster."""

    def __init__(self, cluster: LocalCluster, name: str) -> None:
        self.cluster = cluster
        self.name = name

    def kubectl(self, *words: str, **more) -> Answer:
        return self.cluster.kubectl(*words, namespace=self.name, **more)

    def open(self, *words: str, **more) -> subprocess.Popen[str]:
        return self.cluster.open(*words, namespace=self.name, **more)

    def get(self, kind: str, name: str = "", *, selector: str = ""):
        return self.cluster.get(kind, name, selector=selector, namespace=self.name)

    def find(self, kind: str, name: str):
        return self.cluster.find(kind, name, namespace=self.name)

    def apply(self, *objects) -> Answer:
        return self.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(objects))

    def run_pod(self, name: str, script: str, *, port: int = 0, **spec) -> None:
        """Create a pod that runs a shell script, and wait until it is ready, and listens on its port if it has one."""
        self.cluster.client.create(PODS, pod(name, script, **spec), self.name)
        self.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")
        if port:
            address = self.get("pod", name)["status"]["podIP"]
            eventually(lambda: listens(address, port), why=f"pod {name} listens on {port}")


def pod(name: str, script: str, *, image: str = "host", labels=None, **spec):
    """Build a pod with one container that runs a shell script."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {"app": name}},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [{"name": "main", "image": image, "command": ["sh", "-c", script]}],
            **spec,
        },
    }


def curl(url: str, *words: str, check: bool = True) -> Answer:
    """Fetch a page with the real curl."""
    return run(["curl", "-sS", "--max-time", "5", "--noproxy", "*", *words, url], check=check)


def missing_program() -> str:
    """Return why these tests cannot run here, or nothing."""
    absent = [name for name in ("kubectl", "curl") if shutil.which(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""
