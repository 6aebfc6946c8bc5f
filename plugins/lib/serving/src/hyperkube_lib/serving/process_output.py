"""What a command in a container writes until it ends, read through its descriptors."""

from __future__ import annotations

import os
import select

from hyperkube.hookspecs.runtime import ExecResult, Process
from hyperkube.machinery.clock import Clock

_CHUNK = 65536


def output_of(process: Process, clock: Clock, timeout: float | None, limit: int) -> ExecResult | None:
    """Return output and exit code of a command once it has ended, None when `timeout` seconds passed first.

    It is ended then, and its descriptors are closed in any case. Of each stream `limit` bytes are kept; what is beyond
    is read as well: a command that writes into a full pipe would never end.
    """
    deadline = None if timeout is None else clock.monotonic() + timeout
    outputs = {stream: b"" for stream in (process.stdout, process.stderr) if stream is not None}
    streams = list(outputs)
    try:
        while streams:
            left = None if deadline is None else deadline - clock.monotonic()
            if left is not None and left <= 0:
                return None
            ready, _, _ = select.select(streams, [], [], left)
            for stream in ready:
                data = _read(stream)
                outputs[stream] = (outputs[stream] + data)[:limit]
                if not data:
                    streams.remove(stream)
        code = process.wait(None if deadline is None else max(0.0, deadline - clock.monotonic()))
    finally:
        process.kill()
        for descriptor in (process.stdin, process.stdout, process.stderr):
            if descriptor is not None:
                os.close(descriptor)
    stdout, stderr, *_ = *outputs.values(), b"", b""
    return None if code is None else ExecResult(stdout, stderr, code)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:  # a terminal whose last user is gone
        return b""
