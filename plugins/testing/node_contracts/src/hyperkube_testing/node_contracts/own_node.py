"""A node of its own for a test of networks: namespaces, made by system calls of the test's very thread."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator

_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


class NoNamespaces(Exception):
    """This machine lets the test make no network namespace."""


@contextlib.contextmanager
def own_node() -> Iterator[None]:
    """Move this thread, and so what it starts, into a fresh network namespace, and back in the end.

    Raises:
        NoNamespaces: that needs root.
    """
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _libc.unshare(_CLONE_NEWNET) != 0:
            raise NoNamespaces("needs root: no network namespace can be made")
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            yield
        finally:
            _libc.setns(before, _CLONE_NEWNET)
    finally:
        os.close(before)


@contextlib.contextmanager
def pod_namespaces() -> Iterator[Callable[[], str]]:
    """Yield what makes the network namespace of a pod and returns its path; they go in the end."""
    with contextlib.ExitStack() as stack:

        def make() -> str:
            holder = subprocess.Popen(
                ["unshare", "--net", "sh", "-c", "echo; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            stack.enter_context(holder)
            stack.callback(holder.kill)
            assert holder.stdout is not None
            holder.stdout.readline()
            return f"/proc/{holder.pid}/ns/net"

        yield make
