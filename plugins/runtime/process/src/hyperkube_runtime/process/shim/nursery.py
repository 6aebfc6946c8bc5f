"""One warm interpreter that forks a watcher per container: a fork takes a millisecond and shares its memory.

Each message on standard input (a socket) is a container's folder, with one descriptor to answer on. When the kubelet
goes away the socket ends and so does the nursery; the watchers live on.
"""

from __future__ import annotations

import gc
import os
import signal
import socket

from . import watcher
from .program import receive


def main() -> None:
    """Fork watchers until the kubelet hangs up."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the watchers
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
                    watcher.run(message.decode(), descriptors[0])
                    status = 0
                finally:
                    os._exit(status)
            for descriptor in descriptors:
                os.close(descriptor)
