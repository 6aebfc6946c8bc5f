"""Network namespaces of sandboxes: files that the kernel's namespaces are bound to, so that they outlive the kubelet.

A thread of its own makes each, or connects in one: a namespace belongs to a thread, and the others stay where they are.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from hyperkube_runtime.process.shim import kernel

from hyperkube.machinery.errors import UsageError

_MINE = "/proc/thread-self/ns/net"
_CONNECT_SECONDS = 5.0


class NetworkNamespaces:
    """The network namespaces below one folder, by sandbox."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def check(self) -> None:
        """Make sure that some can be made.

        Raises:
            UsageError: they cannot.
        """
        try:
            _on_thread(lambda: kernel.unshare(kernel.CLONE_NEWNET))
        except OSError as error:
            text = f"pods in network namespaces need root: {error.strerror}; use --network-plugin=loopback"
            raise UsageError(text) from error

    def make(self, sandbox_id: str) -> None:
        """Make the namespace of a sandbox.

        Raises:
            OSError: the kernel refuses.
        """
        self._folder.mkdir(exist_ok=True, mode=0o755)
        place = self._folder / sandbox_id
        place.touch()

        def bind() -> None:
            kernel.unshare(kernel.CLONE_NEWNET)
            kernel.mount(_MINE, str(place), flags=kernel.MS_BIND)

        try:
            _on_thread(bind)
        except OSError:
            place.unlink()
            raise

    def path(self, sandbox_id: str) -> str:
        """Return the namespace's path, empty where there is none: also after a restart of the machine."""
        place = self._folder / sandbox_id
        try:
            is_bound = place.stat().st_dev != self._folder.stat().st_dev
        except OSError:
            return ""
        return str(place) if is_bound else ""

    def remove(self, sandbox_id: str) -> None:
        """Give it up; no error if there is none. It ends when its last process has."""
        if self.path(sandbox_id):
            kernel.unmount(str(self._folder / sandbox_id))
        (self._folder / sandbox_id).unlink(missing_ok=True)


def connect_inside(path: str, port: int, addresses: Iterable[str]) -> int:
    """Return the descriptor of a connection to a port, made inside a namespace.

    Raises:
        OSError: nothing listens at any of the addresses.
    """
    found: list[int] = []

    def connect() -> None:
        kernel.join_namespace(path, kernel.CLONE_NEWNET)
        problem: OSError | None = None
        for address in addresses:
            try:
                found.append(socket.create_connection((address, port), timeout=_CONNECT_SECONDS).detach())
            except OSError as error:
                problem = problem or error
            else:
                return
        raise problem or ConnectionRefusedError("no address")

    _on_thread(connect)
    return found[0]


def _on_thread(call: Callable[[], None]) -> None:
    """Call something on a thread that ends then; raise its OSError here."""
    problems: list[OSError] = []

    def run() -> None:
        try:
            call()
        except OSError as error:
            problems.append(error)

    thread = threading.Thread(target=run, name="network-namespace")
    thread.start()
    thread.join()
    if problems:
        raise problems[0]
