"""The smallest sets of distributions that each server works with, and how one is started from such a set.

A server of its host alone either works or ends with one line that says which distributions are missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hyperkube_testing.peers.ports import free_port

from hyperkube.machinery.clock import SystemClock

SECONDS = 30
_CLOCK = SystemClock()
STEADY_SECONDS = 3
SCHEDULING = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "PrioritySort"}, {"name": "DefaultBinder"}]}}}],
}
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:1"}}],
    "contexts": [{"name": "a", "context": {"cluster": "a"}}],
    "current-context": "a",
}


@dataclass(frozen=True)
class Server:
    """A server and what it needs.

    Attributes:
        word: what ``hyperkube`` is told.
        plugins: distributions beside the host's.
        flags: ``{folder}`` is a folder of its own, ``{port}`` a free port.
        paths: what must answer 200 at the port.
        hint: flags that only the smallest set understands.
    """

    word: str
    plugins: tuple[str, ...]
    flags: tuple[str, ...]
    paths: tuple[str, ...] = ()
    hint: tuple[str, ...] = ()
    files: Mapping[str, object] = field(default_factory=lambda: {"kubeconfig": KUBECONFIG, "scheduling": SCHEDULING})

    @property
    def host(self) -> str:
        """The distribution of the host."""
        return f"hyperkube-host-{self.word}"


SERVERS = (
    Server(
        "apiserver",
        ("hyperkube-storage-memory", "hyperkube-api-core", "hyperkube-api-networking"),
        ("--secure-port=0", "--insecure-port={port}", "--cert-dir={folder}/pki", "--storage-backend=memory"),
        ("/readyz", "/openapi/v2", "/openapi/v3", "/api/v1/namespaces", "/metrics"),
    ),
    Server(
        "controller-manager",
        ("hyperkube-controller-ttl",),
        ("--kubeconfig={folder}/kubeconfig", "--secure-port=0", "--leader-elect=false"),
    ),
    Server(
        "scheduler",
        ("hyperkube-scheduler-priority-sort", "hyperkube-scheduler-default-binder"),
        ("--kubeconfig={folder}/kubeconfig", "--secure-port=0", "--leader-elect=false"),
        hint=("--config={folder}/scheduling",),
    ),
    Server(
        "kubelet",
        ("hyperkube-runtime-hollow",),
        ("--kubeconfig={folder}/kubeconfig", "--root-dir={folder}/kubelet", "--port=0", "--healthz-port={port}"),
        ("/healthz",),
    ),
    Server(
        "proxy",
        ("hyperkube-proxier-userspace",),
        ("--kubeconfig={folder}/kubeconfig", "--healthz-port=0", "--metrics-port={port}"),
        ("/proxyMode",),
    ),
)


@dataclass(frozen=True)
class Start:
    """One start of a server with an import path of its own."""

    server: Server
    name: str
    python: str
    folder: Path
    path: str

    def __str__(self) -> str:
        return f"{self.server.host} {self.name}"

    def failure(self) -> str:
        """Return why the start is no good, empty if it is."""
        self.folder.mkdir()
        for name, document in self.server.files.items():
            (self.folder / name).write_text(json.dumps(document))
        port = free_port()
        small = self.name == "small"
        flags = (*self.server.flags, *(self.server.hint if small else ()))
        words = [flag.format(folder=self.folder, port=port) for flag in flags]
        log = self.folder / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [self.python, "-m", "hyperkube.command.main", self.server.word, *words],
                cwd=self.folder, env={**os.environ, "PYTHONPATH": self.path}, stdout=output, stderr=output,
            )  # fmt: skip
        try:
            works = self._works(process, port)
        finally:
            process.terminate()
            process.wait(SECONDS)
        text = log.read_text()
        if "Traceback" in text:
            return f"a traceback\n{text[-3000:]}"
        if works:
            return ""
        last = text.rstrip().rpartition("\n")[2]
        if not small and last.startswith("error: ") and "hyperkube-" in last:
            return ""
        return f"it does not work\n{text[-3000:]}"

    def _works(self, process: subprocess.Popen[bytes], port: int) -> bool:
        steady, deadline = _CLOCK.monotonic() + STEADY_SECONDS, _CLOCK.monotonic() + SECONDS
        left = list(self.server.paths)
        while _CLOCK.monotonic() < deadline and process.poll() is None:
            if left and _answers(port, left[0]):
                left.pop(0)
            elif not left and _CLOCK.monotonic() > steady:
                return True
            else:
                _CLOCK.sleep(0.1)
        return False


def _answers(port: int, path: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
