"""Running a command in a container, for exec probes and lifecycle hooks.

Source: kubernetes ``pkg/probe/exec/exec.go``.
"""

from __future__ import annotations

import os
import select
from collections.abc import Sequence

from hyperkube_host.kubelet.probe.result import ProbeOutcome, ProbeResult

from hyperkube.hookspecs.runtime import ExecsSync, Process, Runtime, RuntimeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object

OUTPUT_LIMIT = 10 * 1024
_CHUNK = 65536


def probe_exec(runtime: Runtime, clock: Clock, container_id: str, action: Object, timeout: float) -> ProbeOutcome:
    """Run the command of an ``exec`` action; exit code 0 is success."""
    command = action.get("command") or []
    try:
        code, output = run_command(runtime, clock, container_id, command, timeout)
    except RuntimeFailed as error:
        return ProbeOutcome(ProbeResult.ERROR, str(error))
    if code is None:
        text = f'command timed out: "{" ".join(command)}" timed out after {timeout:g}s'
        return ProbeOutcome(ProbeResult.FAILURE, text)
    result = ProbeResult.SUCCESS if code == 0 else ProbeResult.FAILURE
    return ProbeOutcome(result, output.decode(errors="replace"))


def run_command(
    runtime: Runtime, clock: Clock, container_id: str, command: Sequence[str], timeout: float | None
) -> tuple[int | None, bytes]:
    """Run a command in a container; return its exit code, None after `timeout` seconds, and the start of its output.

    Raises:
        RuntimeFailed: it could not be started.
    """
    if isinstance(runtime, ExecsSync):
        try:
            done = runtime.exec_sync(container_id, command, timeout or 0)
        except TimeoutError:
            return None, b""
        return done.exit_code, (done.stdout + done.stderr)[:OUTPUT_LIMIT]
    process = runtime.exec(container_id, command, stdin=False, tty=False)
    try:
        return _collect(process, clock, timeout)
    finally:
        process.kill()
        for descriptor in (process.stdin, process.stdout, process.stderr):
            if descriptor is not None:
                os.close(descriptor)


def _collect(process: Process, clock: Clock, timeout: float | None) -> tuple[int | None, bytes]:
    deadline = None if timeout is None else clock.monotonic() + timeout
    streams = [stream for stream in (process.stdout, process.stderr) if stream is not None]
    output = b""
    while streams:
        left = None if deadline is None else deadline - clock.monotonic()
        if left is not None and left <= 0:
            return None, output
        ready, _, _ = select.select(streams, [], [], left)
        for stream in ready:
            data = _read(stream)
            # Output beyond the limit is still read: a process that writes into a full pipe would never end.
            output = (output + data)[:OUTPUT_LIMIT]
            if not data:
                streams.remove(stream)
    left = None if deadline is None else max(0.0, deadline - clock.monotonic())
    return process.wait(left), output


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:  # a terminal whose last user is gone
        return b""
