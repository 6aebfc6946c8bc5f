"""The SSH tunneler of the 1.x line: kubelets, pods and services are reached through the SSH servers of nodes.

OpenSSH's own client does the work: one connection to a node is shared by all that goes through it, opened when it is
needed and closed a while after its last use, so that nothing has to be kept up for nodes without requests. Host
keys are not checked, as upstream has it: who is reached proves itself by TLS.

The nodes have to know the key; the API server has a cloud provider put it there that can.

Source: kubernetes 1.15 ``pkg/ssh/ssh.go``, ``pkg/master/tunneler/ssh.go``.
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from random import Random

from hyperkube.machinery.errors import UsageError

LONGEST_USER = 32
KEPT_SECONDS = 15
"""How long a connection to a node outlives its last use."""
_log = logging.getLogger("hyperkube.apiserver.ssh")


class SshTunnels:
    """Dials through nodes, from any thread.

    Attributes:
        opened: how many times a way through a node was asked for.
        failed: how many of these came to nothing.
    """

    def __init__(self, user: str, key_file: str, random: Random) -> None:
        self._user = user[:LONGEST_USER]
        self._key_file = key_file
        self._random = random
        self._folder = Path(tempfile.mkdtemp(prefix="ssh-"))
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._lock = threading.Lock()
        self.opened = 0
        self.failed = 0

    def dial(self, nodes: Sequence[str], host: str, port: int) -> socket.socket:
        """Return a socket that leads to host and port through the node of that address, else through any.

        Raises:
            OSError: there are no nodes, or the client program cannot be started.
        """
        self.reap()
        if not nodes:
            raise OSError(
                f"No SSH tunnels currently open. Were the targets able to accept an ssh-key for user {self._user!r}?"
            )
        through = host if host in nodes else self._random.choice(nodes)
        ours, theirs = socket.socketpair()
        with theirs:
            self.opened += 1
            process = subprocess.Popen(
                self._command(through, host, port),
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        with self._lock:
            self._running.append((through, process))
        return ours

    def reap(self) -> None:
        """Collect the programs that have ended, and count and tell of those that failed."""
        with self._lock:
            ended = [(node, process) for node, process in self._running if process.poll() is not None]
            self._running = [row for row in self._running if row not in ended]
        for node, process in ended:
            text = _written(process)
            if process.returncode:
                self.failed += 1
                _log.warning("no way through node %s: %s", node, text or f"ssh ended with {process.returncode}")

    def close(self) -> None:
        """End what is still running."""
        for _, process in self._running:
            process.terminate()
            process.wait()
            _written(process)
        self._running = []
        for path in self._folder.glob("*"):
            command = ["ssh", "-F", "/dev/null", "-O", "exit", "-o", f"ControlPath={path}", "node"]
            subprocess.run(command, capture_output=True, check=False, timeout=10)
        shutil.rmtree(self._folder, ignore_errors=True)

    def metrics(self) -> bytes:
        """Return what is counted, by upstream's names."""
        self.reap()
        rows = [
            ("ssh_tunnel_open_count", "Counter of ssh tunnel total open attempts", self.opened),
            ("ssh_tunnel_open_fail_count", "Counter of ssh tunnel failed open attempts", self.failed),
        ]
        return "".join(f"# HELP {n} {text}\n# TYPE {n} counter\n{n} {count}\n" for n, text, count in rows).encode()

    def _command(self, node: str, host: str, port: int) -> list[str]:
        options = {
            "BatchMode": "yes",
            "IdentitiesOnly": "yes",
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": "/dev/null",
            "LogLevel": "ERROR",
            "ConnectTimeout": "10",
            "ServerAliveInterval": "15",
            "ControlMaster": "auto",
            "ControlPath": f"{self._folder}/%C",
            "ControlPersist": str(KEPT_SECONDS),
        }
        words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        to = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return ["ssh", "-F", "/dev/null", *words, "-i", self._key_file, "-W", to, "-l", self._user, "--", node]


def _written(process: subprocess.Popen[bytes]) -> str:
    """Return what an ended program said; the connection that it may have left behind could say more one day."""
    if process.stderr is None:
        return ""
    with process.stderr as stream:
        os.set_blocking(stream.fileno(), False)
        try:
            return (os.read(stream.fileno(), 2000)).decode(errors="replace").strip()
        except BlockingIOError:
            return ""


def build_tunnels(user: str, key_file: str, kubelet_port: int, random: Random) -> SshTunnels | None:
    """Return the tunnels that ``--ssh-user`` asks for, None without it.

    Raises:
        UsageError: they cannot be had.
    """
    if not user:
        return None
    if not kubelet_port:
        raise UsageError("Must enable kubelet port if proxy ssh-tunneling is specified.")
    if not Path(key_file).is_file():
        raise UsageError(f"--ssh-keyfile={key_file} does not exist, and --ssh-user needs it")
    if shutil.which("ssh") is None:
        raise UsageError("--ssh-user needs the program 'ssh' (Debian's package openssh-client)")
    return SshTunnels(user, key_file, random)
