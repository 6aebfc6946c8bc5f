"""Starting a program the way a container's process starts: own session, own streams, and a clear word if it cannot."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import termios
from typing import NamedTuple

from . import kernel


class StartFailed(Exception):
    """The program could not be started; the text is the one that container runtimes give."""


class Program(NamedTuple):
    """What to start.

    Attributes:
        own_cwd: `cwd` is the container's own folder, to which the way may be open to the runtime alone.
        user, group, groups: None to stay who we are.
        no_new_privileges: it can gain no privileges by executing another program.
        capabilities: all that it may ever have; None to leave them as they are.
        cgroups: the ``cgroup.procs`` files of the groups that it belongs to.
        own_processes: it sees a ``/proc`` of the process namespace that it is born into.
        view: the open mount namespace to run in, -1 for that of the shim.
    """

    argv: list[str]
    env: dict[str, str]
    cwd: str
    own_cwd: bool = False
    user: int | None = None
    group: int | None = None
    groups: list[int] | None = None
    no_new_privileges: bool = False
    capabilities: list[int] | None = None
    cgroups: tuple[str, ...] = ()
    own_processes: bool = False
    view: int = -1


def start(program: Program, streams: tuple[int, int, int], *, tty: bool) -> int:
    """Start `program` with the three descriptors as its stdin, stdout and stderr; return its pid.

    Raises:
        StartFailed: there is no such program, folder or right.
    """
    report, told = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        os.close(report)
        _become(program, streams, told, tty=tty)
    os.close(told)
    with os.fdopen(report, "rb") as reader:
        problem = reader.read()
    if problem:
        os.waitpid(pid, 0)
        raise StartFailed(problem.decode(errors="replace"))
    return pid


def _become(program: Program, streams: tuple[int, int, int], told: int, *, tty: bool) -> None:
    """Turn this forked child into the program; never returns."""
    try:
        os.setsid()
        moved = [fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, 10) for stream in streams]
        for number, stream in enumerate(moved):
            os.dup2(stream, number)
        if tty:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(ignored, signal.SIG_DFL)
        os.umask(0o022)
        _join_cgroups(program.cgroups)
        _enter_view(program)
        if program.own_cwd:
            _enter_folder(program.cwd)
        _take_identity(program)
        if not program.own_cwd:
            _enter_folder(program.cwd)  # as the user it runs as, who may not enter what is the runtime's alone
        kernel.die_with_parent(signal.SIGKILL)
        os.execvpe(program.argv[0], program.argv, program.env)  # noqa: S606  no shell is meant
    except OSError as error:
        os.write(told, _explain(program, error).encode())
    except StartFailed as error:
        os.write(told, str(error).encode())
    except ValueError as error:
        os.write(told, f'exec: "{program.argv[0]}": {error}'.encode())
    finally:
        os._exit(127)


def _enter_folder(path: str) -> None:
    try:
        os.chdir(path)
    except OSError as error:
        why = os.strerror(error.errno or 0).lower()
        raise StartFailed(f"chdir to cwd ({path!r}) set in config.json failed: {why}") from error


def _join_cgroups(files: tuple[str, ...]) -> None:
    for path in files:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        os.write(descriptor, b"0")
        os.close(descriptor)


def _enter_view(program: Program) -> None:
    """See the processes of this process's own namespace: the first of them mounts ``/proc``, the others join it."""
    if program.view >= 0:
        kernel.enter_namespace(program.view, kernel.CLONE_NEWNS)
    elif program.own_processes:
        kernel.unshare(kernel.CLONE_NEWNS)
        kernel.mount("proc", "/proc", "proc")


def _take_identity(program: Program) -> None:
    """Become the program's user with no more privileges than it may have."""
    # The bounding set can be changed only as long as this process is privileged, its own sets also after that.
    if program.capabilities is not None:
        kernel.bound_capabilities(program.capabilities)
    if program.groups is not None:
        os.setgroups(program.groups)
    if program.group is not None:
        os.setgid(program.group)
    if program.user is not None:
        os.setuid(program.user)
    if program.capabilities is not None:
        kernel.keep_capabilities(program.capabilities)
    if program.no_new_privileges:
        kernel.forbid_new_privileges()


def _explain(program: Program, error: OSError) -> str:
    name = program.argv[0]
    if error.errno == errno.ENOENT and "/" not in name:
        return f'exec: "{name}": executable file not found in $PATH'
    if error.errno == errno.ENOENT:
        return f'exec: "{name}": stat {name}: no such file or directory'
    return f'exec: "{name}": {os.strerror(error.errno or 0).lower()}'


def receive(line: socket.socket, most: int) -> tuple[bytes, list[int]]:
    """Return the next message of a connection and its descriptors, which no started program inherits."""
    message, descriptors, _, _ = socket.recv_fds(line, 1 << 20, most)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)  # recv_fds of Python 3.11 drops the flag that would do this
    return message, list(descriptors)


def exit_code(status: int) -> int:
    """Return the exit code of a wait status; a signal counts as 128 plus its number."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
