"""`Place`: a machine made of namespaces. It exists as long as this process does (see ``keeper.sh``)."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from hyperkube_testing.lab.program import Program, child_of

from hyperkube.testing.waiting import eventually

_KEEPER = Path(__file__).with_name("keeper.sh")
_CLONE_NEWNET = 0x40000000
# Whatever is started in a place belongs to its cgroups, as it would on a machine of its own.
_ENTER = 'for file in /sys/fs/cgroup/*/cgroup.procs; do [ ! -e "$file" ] || echo 0 > "$file"; done; exec "$@"'
_libc = ctypes.CDLL(None, use_errno=True)


class Place:
    """Network, mount, UTS, IPC and PID namespaces with a disk of their own; a context manager.

    Args:
        name: its host name.
        cgroup: where its cgroups are below each hierarchy's root; it sees them as the roots. None when empty.
        disk: the size of what ``/var/lib``, ``/var/log`` and ``/etc`` are on; it is memory.

    Attributes:
        ip: its IPv4 address in the laboratory's network, empty without one.
        ip6: its IPv6 address.
    """

    def __init__(self, name: str, *, cgroup: str = "", disk: str = "256m") -> None:
        self.name = name
        self.ip = self.ip6 = ""
        self._logs = Path(tempfile.mkdtemp(prefix=f"hklab-{name}-"))
        self._log_numbers = itertools.count(1)
        self._programs: list[Program] = []
        self._keeper = subprocess.Popen(
            ["sh", str(_KEEPER), name, cgroup, disk, str(self._logs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # an interrupt from the terminal is for this process, which then closes the pipe
        )
        said = self._keeper.stdout.readline() if self._keeper.stdout else ""
        if said != "ready\n":
            rest = self._keeper.communicate()[0]
            shutil.rmtree(self._logs, ignore_errors=True)
            raise RuntimeError(f"no place {name!r}: {said}{rest}".rstrip())
        self.pid = eventually(lambda: child_of(child_of(self._keeper.pid)), why="the place's first process")

    def command(self, *words: str | Path) -> list[str]:
        """Return the command line that runs a command here."""
        enter = ["nsenter", "--target", str(self.pid), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup"]
        return [*enter, "sh", "-c", _ENTER, "sh", *map(str, words)]

    def run(
        self,
        *words: str | Path,
        check: bool = True,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        seconds: float = 60.0,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command here to its end.

        Raises:
            AssertionError: it failed, and `check` is set.
            subprocess.TimeoutExpired: it took longer than `seconds`.
        """
        done = subprocess.run(
            self.command(*words),
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
            env=None if env is None else {**os.environ, **env},
        )
        if check and done.returncode:
            line = " ".join(map(str, words))
            raise AssertionError(f"{self.name}: {line}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def start(self, *words: str | Path, env: Mapping[str, str] | None = None) -> Program:
        """Start a program here; it ends with the place at the latest."""
        log = self._logs / f"{next(self._log_numbers)}-{Path(words[0]).name}.log"
        with log.open("wb") as output:
            entered = subprocess.Popen(
                self.command(*words),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if env is None else {**os.environ, **env},
                start_new_session=True,
            )
        self._programs.append(Program(entered, log))
        return self._programs[-1]

    def path(self, path: str | Path) -> Path:
        """Return where a file of this place is seen from outside."""
        return Path(f"/proc/{self.pid}/root") / str(path).lstrip("/")

    def write(self, path: str | Path, content: str, mode: int = 0o644) -> None:
        """Write a file here, and the folders it is in."""
        file = self.path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        file.chmod(mode)

    def read(self, path: str | Path) -> str:
        """Return what a file here contains."""
        return self.path(path).read_text()

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """Let this thread make sockets here; a socket stays where it was made."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{self.pid}/ns/net", os.O_RDONLY)
        try:
            _setns(there)
            yield
        finally:
            _setns(home)
            os.close(home)
            os.close(there)

    def ip_batch(self, lines: Sequence[str]) -> None:
        """Have ``ip`` do these lines in the network namespace alone, where pids are those of this machine.

        Raises:
            RuntimeError: one of them failed.
        """
        done = subprocess.run(
            ["nsenter", f"--net=/proc/{self.pid}/ns/net", "ip", "-batch", "-"],
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr.strip()}")

    def close(self) -> None:
        """End every process here and remove the place; idempotent."""
        if self._keeper.stdin and not self._keeper.stdin.closed:
            self._keeper.stdin.close()
            self._keeper.wait()
            for program in self._programs:
                program.wait()
            if self._keeper.stdout:
                self._keeper.stdout.close()
            shutil.rmtree(self._logs, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _setns(namespace: int) -> None:
    if _libc.setns(namespace, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
