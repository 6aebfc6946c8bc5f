"""The read buffers of TLS connections, given back as far as they are not used.

uvloop gives each connection 256 KiB to read into, of which requests and handshakes touch a page or two. But the C
library takes them from memory that was used before, and so 29 KiB of each were resident on average, most of it what
other allocations left there. Behind the handshake nothing in the buffer is needed: its pages go back to the system,
which lends them again when they are read into. uvloop has no setting for the size; where its connections look different
from here, or the system has no ``madvise``, nothing happens.
"""

from __future__ import annotations

import asyncio
import ctypes
import mmap

from hyperkube_lib.serving.uvloop_tls import ssl_protocol

_ADVICE: int | None = getattr(mmap, "MADV_DONTNEED", None)
_LEAST = 64 * 1024
"""Bytes below which a buffer is not worth a call."""


_libc = ctypes.CDLL(None)


def release(transport: asyncio.BaseTransport) -> int:
    """Give the pages of a TLS connection's read buffer back; return their bytes. On the loop, while nothing is read."""
    if _ADVICE is None:
        return 0
    protocol = ssl_protocol(transport)
    return 0 if protocol is None else _release(protocol.get_buffer(1))


def _release(buffer: memoryview) -> int:
    size = buffer.nbytes
    if size < _LEAST:
        return 0
    start = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    # Whole pages inside of the buffer only: on the others other allocations may be.
    first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
    length = (start + size) // mmap.PAGESIZE * mmap.PAGESIZE - first
    if _libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(length), _ADVICE):
        return 0
    return length
