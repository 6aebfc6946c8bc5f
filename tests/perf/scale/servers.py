"""The servers under load, each a process of its own: started, ended, and asked what they use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from hyperkube_testing.peers.ports import free_port
from servers_under_load import BIN, TOKEN, Served

from scale.node_process import node_name, node_token

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_CONTROLLERS_TOKEN, _SCHEDULER_TOKEN = "controllers-token", "scheduler-token"
READY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process uses at a moment of the monotonic clock: CPU seconds so far, resident bytes, threads, descriptors."""

    moment: float
    cpu: float
    resident: int
    threads: int
    descriptors: int


def usage(pid: int) -> Usage:
    """Return what a process uses.

    Raises:
        OSError: it has ended.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    if fields[0] == "Z":
        raise ProcessLookupError(pid)
    resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    # Linux has told their number as the folder's size since 6.2; to list 15,000 of them each second takes long.
    descriptors = Path(f"/proc/{pid}/fd").stat().st_size or sum(1 for _ in os.scandir(f"/proc/{pid}/fd"))
    return Usage(time.monotonic(), (int(fields[11]) + int(fields[12])) / _TICKS, resident, int(fields[17]), descriptors)


def proportional_bytes(pid: int) -> int:
    """Return the memory of a process with its share of what others have too."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


@dataclass
class Cluster:
    """Servers that run: their names and processes, and where the API is."""

    folder: Path
    urls: list[str] = field(default_factory=list)
    pids: dict[str, int] = field(default_factory=dict)
    history: dict[str, list[Usage]] = field(default_factory=dict)
    stored: list[tuple[float, float]] = field(default_factory=list)
    """(moment, MiB) of the store's files."""

    def look(self) -> None:
        """Write down what each server uses now.

        Raises:
            RuntimeError: one has ended.
        """
        for name, pid in self.pids.items():
            try:
                self.history.setdefault(name, []).append(usage(pid))
            except OSError as error:
                raise RuntimeError(f"{name} has ended; see {self.folder / name}.log") from error
        self.stored.append((time.monotonic(), self.stored_bytes() / (1 << 20)))

    def stored_bytes(self) -> int:
        """Return the size of the store's files."""
        total = 0
        for file in (self.folder / "data").rglob("*"):
            with suppress(FileNotFoundError):  # etcd replaces files
                total += file.stat().st_size if file.is_file() else 0
        return total


def write_tokens(folder: Path, nodes: int) -> Path:
    """Write the identities: an administrator, the servers, and each node; return the file."""
    rows = [
        f'{TOKEN},admin,admin,"system:masters"',
        f"{_CONTROLLERS_TOKEN},system:kube-controller-manager,controllers",
        f"{_SCHEDULER_TOKEN},system:kube-scheduler,scheduler",
        *(f'{node_token(index)},system:node:{node_name(index)},n{index},"system:nodes"' for index in range(nodes)),
    ]
    file = folder / "tokens.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


def write_kubeconfig(file: Path, url: str, authority: Path, token: str) -> None:
    """Write a kubeconfig of one user."""
    file.write_text(
        f"""apiVersion: v1
kind: Config
current-context: scale
clusters: [{{name: scale, cluster: {{server: "{url}", certificate-authority: "{authority}"}}}}]
users: [{{name: user, user: {{token: "{token}"}}}}]
contexts: [{{name: scale, context: {{cluster: scale, user: user}}}}]
"""
    )


@dataclass(frozen=True)
class Wanted:
    """Which servers: how many API servers, on which store, with which further flags (server word → flags)."""

    nodes: int
    api_servers: int = 1
    etcd: bool = False
    extra: dict[str, Sequence[str]] = field(default_factory=dict)


@contextmanager
def running(folder: Path, wanted: Wanted) -> Iterator[Cluster]:
    """Run the control plane until the end of the block; it is ready at its beginning.

    Raises:
        RuntimeError: a server did not come up.
    """
    (folder / "data").mkdir(parents=True)
    tokens = write_tokens(folder, wanted.nodes)
    cluster = Cluster(folder)
    with ExitStack() as stack:

        def launch(name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
            log = stack.enter_context((folder / f"{name}.log").open("wb"))
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            stack.callback(_end, process)
            cluster.pids[name] = process.pid
            return process

        store = ["--storage-backend=sqlite", f"--data-dir={folder / 'data'}"]
        if wanted.etcd:
            url = f"http://127.0.0.1:{free_port()}"
            launch("etcd", _etcd(folder, url))
            store = [f"--etcd-servers={url}"]
        for index in range(wanted.api_servers):
            port = free_port()
            name = "apiserver" if wanted.api_servers == 1 else f"apiserver-{index}"
            line = _api_server(folder, port, tokens, store) + list(wanted.extra.get("apiserver", ()))
            process = launch(name, line)
            with (folder / f"{name}.log").open("rb") as log:
                Served(process, port, log).wait("/readyz", pause=0.1)
            cluster.urls.append(f"https://127.0.0.1:{port}")
        authority = folder / "pki/apiserver.crt"
        for index, (word, token) in enumerate(
            (("controller-manager", _CONTROLLERS_TOKEN), ("scheduler", _SCHEDULER_TOKEN))
        ):
            kubeconfig = folder / f"{word}.kubeconfig"
            write_kubeconfig(kubeconfig, cluster.urls[index % len(cluster.urls)], authority, token)
            line = [
                str(BIN / "hyperkube"),
                word,
                f"--kubeconfig={kubeconfig}",
                "--leader-elect=false",
                "--secure-port=0",
            ]
            if word == "controller-manager":
                line += ["--use-service-account-credentials", f"--root-ca-file={authority}"]
                line += [f"--service-account-private-key-file={folder / 'pki/service-account.key'}"]
            launch(word, line + list(wanted.extra.get(word, ())))
        yield cluster


def _api_server(folder: Path, port: int, tokens: Path, store: Sequence[str]) -> list[str]:
    return [
        str(BIN / "hyperkube"), "apiserver", *store, f"--cert-dir={folder / 'pki'}", f"--token-auth-file={tokens}",
        "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged",
        f"--secure-port={port}", "--bind-address=127.0.0.1", "--service-cluster-ip-range=10.0.0.0/16",
    ]  # fmt: skip


def _etcd(folder: Path, url: str) -> list[str]:
    program = shutil.which("etcd")
    if program is None:
        sys.exit("error: the program etcd is not installed (./dev servers)")
    peer = f"http://127.0.0.1:{free_port()}"
    return [
        program, f"--data-dir={folder / 'data'}", "--name=one", f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}", f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=one={peer}", "--log-level=error", "--quota-backend-bytes=8589934592",
    ]  # fmt: skip


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
