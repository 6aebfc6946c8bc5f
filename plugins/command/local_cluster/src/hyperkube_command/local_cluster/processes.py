"""Each server as a process of its own over HTTPS, as in Kubernetes; this one only watches over them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_command.local_cluster.arguments import (
    ClusterOptions,
    arguments,
    simulated_node_arguments,
    simulated_node_name,
)

from hyperkube.command.lifecycle import PARENT, Lifecycle
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from hyperkube.client.client import Client

START_SECONDS = 60.0
STOP_SECONDS = 4.0
PROGRAM = (sys.executable, "-m", "hyperkube.command.main")
"""The hyperkube of this interpreter: words are added to it."""


class ServerProcess:
    """One server's process; `lost` is told, in words, when it ends on its own."""

    def __init__(self, word: str, command: Sequence[str], lost: Callable[[str], None], log: str) -> None:
        self.word = word
        self._command = list(command)
        self._lost = lost
        self._closing = False
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, with its output in a log file."""
        with Path(self._log).open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, PARENT: str(os.getpid())},
            )
        threading.Thread(target=self._wait, name=f"wait-{self.word}", daemon=True).start()

    def _wait(self) -> None:
        if self._process is not None:
            code = self._process.wait()
            if not self._closing:
                self._lost(f"the {self.word} ended with exit code {code}; see {self._log}")

    def running(self) -> bool:
        """Tell whether it runs."""
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """Ask it to end, then make it."""
        self._closing = True
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGKILL)
            self._process.wait()


def start(life: Lifecycle, cluster: ClusterOptions, lost: Callable[[str], None]) -> Client:
    """Start the API server, wait until it is ready, then the others; return the administrator's client.

    Should one of them end before it is told to, `lost` is called with what happened.

    Raises:
        UsageError: a server ended while starting; the message names its log.
    """
    from hyperkube.client.kubeconfig import client_from_kubeconfig

    lines = arguments(cluster)
    lines["kubelet"].append("--stop-pods-on-close")
    _show_health(cluster, lines)
    logs = cluster.layout.root / "logs"
    logs.mkdir(mode=0o700, exist_ok=True)

    def launch(name: str, word: str, line: Sequence[str]) -> ServerProcess:
        server = ServerProcess(word, [*PROGRAM, word, *line], lost, str(logs / f"{name}.log"))
        life.start(name, server)
        return server

    api = launch("apiserver", "apiserver", lines["apiserver"])
    client = client_from_kubeconfig(str(cluster.layout.admin_kubeconfig))
    wait_until_ready(api, client, str(logs / "apiserver.log"))
    for word in ("controller-manager", "scheduler", "proxy", *(() if cluster.hollow_only else ("kubelet",))):
        launch(word, word, lines[word])
    for index in range(cluster.simulated_nodes):
        launch(simulated_node_name(index), "kubelet", simulated_node_arguments(cluster, index))
    return client


def _show_health(cluster: ClusterOptions, lines: Mapping[str, list[str]]) -> None:
    """Let the API server see whether the scheduler and the controller manager work.

    Their ports show all but health to whom the API server allows it: other users of this machine reach them, too.
    """
    endpoints = []
    for word in ("scheduler", "controller-manager"):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        kubeconfig = cluster.layout.kubeconfig(f"kube-{word}")
        place = lines[word].index("--secure-port=0")
        lines[word][place : place + 1] = [
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
        ]
        endpoints.append(f"{word}=https://127.0.0.1:{port}/healthz")
    lines["apiserver"].insert(0, f"--component-statuses={','.join(endpoints)}")


def wait_until_ready(api: ServerProcess, client: Client, log: str) -> None:
    """Wait until the API server says that it is ready.

    Raises:
        UsageError: it ended, or took too long; the message names its log.
    """
    clock = SystemClock()
    deadline = clock.monotonic() + START_SECONDS
    while clock.monotonic() < deadline:
        if not api.running():
            raise UsageError(f"the API server ended while starting; see {log}")
        with contextlib.suppress(OSError):
            if client.request("GET", "/readyz").status == 200:
                return
        clock.sleep(0.05)
    raise UsageError(f"the API server was not ready within {START_SECONDS:.0f} s; see {log}")
