"""A node of its own for a test: network namespaces, made by system calls of this very thread."""

import contextlib
import ctypes
import os
import subprocess
from pathlib import Path

import pytest

CLONE_NEWNET = 0x40000000
DEBIAN = "/usr/lib/cni"
_libc = ctypes.CDLL(None, use_errno=True)


def unshare_network():
    return _libc.unshare(CLONE_NEWNET) == 0


@pytest.fixture
def own_node():
    """Move this thread, and so what it starts, into a fresh network namespace; skip where that is not allowed."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    if not unshare_network():
        os.close(before)
        pytest.skip("needs root: no network namespace can be made")
    try:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        yield
    finally:
        _libc.setns(before, CLONE_NEWNET)
        os.close(before)


@pytest.fixture
def namespace(own_node):
    """Return what makes the network namespace of a pod and returns its path; they go with the test."""
    with contextlib.ExitStack() as stack:

        def make():
            holder = subprocess.Popen(
                ["unshare", "--net", "sh", "-c", "echo; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            stack.enter_context(holder)
            stack.callback(holder.kill)
            holder.stdout.readline()
            return f"/proc/{holder.pid}/ns/net"

        yield make


@pytest.fixture
def debian():
    """Return the folder of Debian's programs."""
    if not Path(DEBIAN, "bridge").exists():
        pytest.skip("needs Debian's package containernetworking-plugins")
    return DEBIAN
