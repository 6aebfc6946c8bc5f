"""A TCP proxy that delays what passes it, holds it back without a word, or cuts it off."""

from __future__ import annotations

import contextlib
import socket
import threading
import time


class Proxy:
    """Listens on a free port of the loopback address and passes everything on to `target`.

    Attributes:
        delay: seconds that each piece of data waits.
        passed: bytes so far, both ways.
    """

    def __init__(self, target):
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.delay = 0.0
        self.passed = 0
        self._flows = threading.Event()
        self._flows.set()
        self._refuses = False
        self._closed = False
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        """Return the address as etcd and API servers want it."""
        return f"http://127.0.0.1:{self.port}"

    def silence(self):
        """Hold everything back: connections stay open, new ones are accepted, nothing is answered."""
        self._flows.clear()

    def cut(self):
        """Close every connection, and each new one at once."""
        self._refuses = True
        self._drop_all()

    def heal(self):
        """Pass on again; what was held back is lost with its connections."""
        if not self._flows.is_set():
            self._drop_all()
            self._flows.set()
        self._refuses, self.delay = False, 0.0

    def close(self):
        """End it."""
        self._closed = True
        self._listener.close()
        self._drop_all()
        self._flows.set()

    def _drop_all(self):
        with self._lock:
            sockets, self._sockets = self._sockets, set()
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self):
        while not self._closed:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self._refuses:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._target), 5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            with self._lock:
                self._sockets |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if self.delay:
                    time.sleep(self.delay)
                self._flows.wait()
                sink.sendall(data)
                self.passed += len(data)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
            with self._lock:
                self._sockets.discard(one)
