"""The fork server: one interpreter that forks a shim per container, in a millisecond and with shared memory.

Each message on standard input (a socket) is a container's folder, with one descriptor to answer on; ``?`` asks whether
containers get private views here. When the kubelet ends, the socket is closed and the fork server ends; the shims go
on.
"""

from __future__ import annotations

import gc
import os
import signal
import socket

from . import container_shim
from .files import PROBE
from .program import receive


def main() -> None:
    """Fork shims until the kubelet closes the socket."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the shims
    gc.collect()
    gc.freeze()
    gc.disable()
    with socket.socket(fileno=0) as kubelet:
        while True:
            message, descriptors = receive(kubelet, 1)
            if not message:
                return
            if os.fork() == 0:
                status = 1
                try:
                    kubelet.close()
                    if message == PROBE:
                        os.write(descriptors[0], container_shim.enter_view("probe").encode())
                    else:
                        container_shim.run(message.decode(), descriptors[0])
                    status = 0
                finally:
                    os._exit(status)
            for descriptor in descriptors:
                os.close(descriptor)
