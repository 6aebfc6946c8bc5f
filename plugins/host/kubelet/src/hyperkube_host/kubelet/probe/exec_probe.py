"""Running a command in a container, for exec probes and lifecycle hooks.

Source: kubernetes ``pkg/probe/exec/exec.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_host.kubelet.probe.result import ProbeOutcome, ProbeResult

from hyperkube.hookspecs.runtime import ExecsSync, Runtime, RuntimeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object

OUTPUT_LIMIT = 10 * 1024


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
    from hyperkube_lib.serving.process_output import output_of

    if isinstance(runtime, ExecsSync):
        try:
            done = runtime.exec_sync(container_id, command, timeout or 0)
        except TimeoutError:
            return None, b""
        return done.exit_code, (done.stdout + done.stderr)[:OUTPUT_LIMIT]
    process = runtime.exec(container_id, command, stdin=False, tty=False)
    ended = output_of(process, clock, timeout, OUTPUT_LIMIT)
    return (None, b"") if ended is None else (ended.exit_code, (ended.stdout + ended.stderr)[:OUTPUT_LIMIT])
