"""Commands in containers: Docker's own exec, the ``native`` handler of Kubernetes.

Source: kubernetes ``pkg/kubelet/dockershim/exec.go`` (NativeExecHandler), ``docker_streaming.go``.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from hyperkube_lib.serving.process_output import output_of
from hyperkube_runtime.docker.engine import Engine, EngineFailed
from hyperkube_runtime.docker.streams import DockerProcess

from hyperkube.hookspecs.runtime import ContainerNotFound, ExecResult, RuntimeFailed
from hyperkube.machinery.clock import Clock

OUTPUT_LIMIT = 16 << 20
_LOOKS, _LOOK_SECONDS = 5, 2.0
"""How often and how long apart Docker is asked for the exit code of a command whose streams have ended."""


def start(
    engine: Engine, clock: Clock, container_id: str, command: Sequence[str], *, stdin: bool, tty: bool
) -> DockerProcess:
    """Start a command in a container.

    Raises:
        ContainerNotFound: there is no such container.
        RuntimeFailed: it does not run, or there is no such program.
    """
    body = {"Cmd": list(command), "AttachStdin": stdin, "AttachStdout": True, "AttachStderr": True, "Tty": tty}
    try:
        exec_id = engine.create_exec(container_id, body)
        stream = engine.start_exec(exec_id, tty=tty)
    except EngineFailed as error:
        text = f"failed to exec in container - {error}"
        if error.is_not_found:
            raise ContainerNotFound(text) from error
        raise RuntimeFailed(text, "ExecFailed") from error
    return DockerProcess(
        stream,
        clock,
        stdin=stdin,
        tty=tty,
        exit_code=lambda: _exit_code(engine, clock, exec_id),
        resize=lambda width, height: _resize(engine, exec_id, width, height),
        kill=lambda: _kill(engine, exec_id, container_id),
    )


def _exit_code(engine: Engine, clock: Clock, exec_id: str) -> int:
    """Return the code of a command whose streams have ended: it may go on for a moment, or for ever."""
    for look in range(_LOOKS):
        try:
            state = engine.inspect_exec(exec_id)
        except EngineFailed as error:
            raise RuntimeFailed(str(error)) from error
        if not state.get("Running"):
            return int(state.get("ExitCode") or 0)
        clock.sleep(_LOOK_SECONDS if look else 0.1)
    raise RuntimeFailed(f"exec session {exec_id} terminated but process still running")


def _resize(engine: Engine, exec_id: str, width: int, height: int) -> None:
    try:
        engine.resize_exec(exec_id, width, height)
    except EngineFailed as error:
        raise OSError(str(error)) from error  # the size stays


def _kill(engine: Engine, exec_id: str, container_id: str) -> None:
    """End a command, for which Docker has no call; only a process that is of the container, as its cgroup tells."""
    try:
        pid = int(engine.inspect_exec(exec_id).get("Pid") or 0)
        if pid and container_id in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8"):
            os.kill(pid, signal.SIGKILL)
    except (EngineFailed, OSError):
        return  # it is gone, or not on this machine


def run(engine: Engine, clock: Clock, container_id: str, command: Sequence[str], timeout: float) -> ExecResult:
    """Run a command to its end; 0 is no time limit.

    Raises:
        TimeoutError: it took longer than `timeout` seconds, and was ended.
        RuntimeFailed: it could not be started.
    """
    process = start(engine, clock, container_id, command, stdin=False, tty=False)
    done = output_of(process, clock, timeout or None, OUTPUT_LIMIT)
    if done is None:
        raise TimeoutError(f"command {' '.join(command)!r} timed out")
    return done


def attach(engine: Engine, clock: Clock, container_id: str, *, stdin: bool) -> DockerProcess:
    """Connect to the streams of a container.

    Raises:
        ContainerNotFound: there is no such container.
        RuntimeFailed: Docker refused.
    """
    try:
        tty = bool(engine.inspect(container_id)["Config"].get("Tty"))
        stream = engine.attach(container_id, stdin=stdin)
    except EngineFailed as error:
        if error.is_not_found:
            raise ContainerNotFound(str(error)) from error
        raise RuntimeFailed(str(error)) from error

    def resize(width: int, height: int) -> None:
        try:
            engine.resize(container_id, width, height)
        except EngineFailed as error:
            raise OSError(str(error)) from error

    return DockerProcess(stream, clock, stdin=stdin, tty=tty, exit_code=lambda: 0, resize=resize)
