# ruff: noqa: PTH119, PTH120 - pathlib would cost each container's shim memory and start-up time
"""The parent of one container: log, commands, end.

Commands are JSON messages on the socket ``shim.sock`` in the container's folder, one connection per command:
``stop`` (grace), ``reopen``, ``exec`` (argv, tty; three descriptors, or none with a tty, whose descriptor is answered),
``attach`` (stdin; two descriptors; the descriptor of the input is answered). The end of a connection ends what it asked
for: an exec is killed, an attached client is detached.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import socket
from collections.abc import Callable
from time import monotonic, time  # this process has no cluster clock: it runs beside it
from typing import Any

from . import cgroups, descendants, identity, kernel, mounts
from .files import STATUS, SpecFile, StatusFile, read_spec, write_file
from .logs import LogFile
from .memory import MemoryWatch
from .program import Program, StartFailed, exit_code, receive, start

CHUNK = 65536
SOCKET = "shim.sock"
START_ERROR = 128


class Connection:
    """A client's connection: at most one command runs on it."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.exec_pid = 0
        self.outputs: dict[bytes, int] = {}

    def answer(self, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
        """Send one message; a client that is gone needs none."""
        try:
            socket.send_fds(self.socket, [json.dumps(message).encode()], list(descriptors))
        except OSError:
            return


class ContainerShim:
    """Runs one container from its start to its end."""

    def __init__(self, folder: int, spec: SpecFile) -> None:
        self._folder = folder
        self._spec = spec
        self._cgroups = cgroups.ContainerCgroups(
            spec.id, cgroups.usable() if spec.memory_limit or spec.cpu_limit else {}
        )
        in_force = self._cgroups.limit(spec.memory_limit, spec.cpu_limit)
        self._memory = MemoryWatch(0 if "memory" in in_force else spec.memory_limit)
        self._program = Program(
            spec.argv, dict(spec.env), spec.cwd, spec.own_cwd, spec.user, spec.group, spec.groups,
            spec.no_new_privileges, spec.capabilities, self._cgroups.process_files(), spec.pid_namespace,
        )  # fmt: skip
        self._poll = select.poll()
        self._ready: dict[int, Callable[[], object]] = {}
        self._connections: set[Connection] = set()
        self._pid = 0
        self._ended: int | None = None
        self._terminated = False
        self._deadline: float | None = None
        self._stdin = -1
        self._streams: dict[int, bytes] = {}
        self._status = StatusFile(identity.boot_id(), 0.0)
        log_folder = os.open(os.path.dirname(spec.log), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._log = LogFile(log_folder, os.path.basename(spec.log))
        self._events = os.open(spec.events, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def begin(self) -> int:
        """Start the container's process and record it; return its pid.

        Raises:
            StartFailed: it could not be started.
            OSError: its view of the machine could not be made.
        """
        self._listen()
        if self._spec.network_namespace:
            kernel.join_namespace(self._spec.network_namespace, kernel.CLONE_NEWNET)
        view = self._private_view()
        kernel.adopt_orphans()
        self._watch_children()
        self._pid = self._start_main()
        own_pid = os.getpid()
        self._write_status(
            started_at=time(),
            shim_pid=own_pid,
            shim_start=identity.start_time(own_pid),
            pid=self._pid,
            view=view,
        )
        return self._pid

    def _listen(self) -> None:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(SOCKET)
        listener.listen(16)
        listener.setblocking(False)
        self._on(listener.fileno(), lambda: self._accept(listener))

    def _private_view(self) -> str:
        """Mount the volumes in new namespaces; return ``private``, or ``shared`` where that is not allowed."""
        if not self._spec.namespaces:
            return "shared"
        if enter_view(self._spec.hostname) == "shared":
            return "shared"  # the links under HYPERKUBE_ROOT lead to the volumes all the same
        view = mounts.View(self._spec.scratch)
        for source, target, read_only in self._spec.mounts:
            view.add(source, target, read_only=read_only)
        if self._spec.read_only_root:
            view.make_root_read_only()
        return "private"

    def _watch_children(self) -> None:
        wake, woken = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        self._on(wake, lambda: self._reap(wake))

    def _start_main(self) -> int:
        """Start the container's own process; what is executed in it later sees what that sees."""
        if not self._spec.pid_namespace:
            return self._start_first()
        kernel.unshare(kernel.CLONE_NEWPID)  # for the processes to come: the first of them is the new one's init
        pid = self._start_first()
        try:
            view = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return pid  # it has ended already, and nothing can be executed beside it any more
        self._program = self._program._replace(view=view)
        return pid

    def _start_first(self) -> int:
        if self._spec.tty:
            master, slave = self._open_terminal()
            self._stdin = master
            pid = start(self._program, (slave, slave, slave), tty=True)
            os.close(slave)
            self._follow(master, b"stdout")
            return pid
        out, out_end = os.pipe2(os.O_CLOEXEC)
        err, err_end = os.pipe2(os.O_CLOEXEC)
        if self._spec.stdin:
            source, self._stdin = os.pipe2(os.O_CLOEXEC)
        else:
            source = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        pid = start(self._program, (source, out_end, err_end), tty=False)
        for descriptor in (source, out_end, err_end):
            os.close(descriptor)
        self._follow(out, b"stdout")
        self._follow(err, b"stderr")
        return pid

    def _open_terminal(self) -> tuple[int, int]:
        """Open a terminal in the container's view, where its name means the same to the programs on it."""
        master, slave = os.openpty()
        if self._program.user is not None:
            os.fchown(slave, self._program.user, -1)
        return master, slave

    def _follow(self, descriptor: int, stream: bytes) -> None:
        os.set_blocking(descriptor, False)
        self._streams[descriptor] = stream
        self._on(descriptor, lambda: self._read(descriptor))

    def _on(self, descriptor: int, call: Callable[[], object]) -> None:
        self._ready[descriptor] = call
        self._poll.register(descriptor, select.POLLIN)

    def _off(self, descriptor: int) -> None:
        del self._ready[descriptor]
        self._poll.unregister(descriptor)

    def watch(self) -> None:
        """Serve until the container ended, then record how."""
        while self._ended is None:
            for descriptor, _ in self._poll.poll(self._patience()):
                call = self._ready.get(descriptor)
                if call is not None:
                    call()
            if self._memory.exceeds(monotonic()):
                self._deadline = monotonic()
            if self._deadline is not None and monotonic() >= self._deadline:
                self._deadline = None
                self._signal(signal.SIGKILL)
        self._finish(self._ended)

    def _patience(self) -> float | None:
        """Return how long to wait for something to happen, in milliseconds; None for ever."""
        moments = [moment for moment in (self._deadline, self._memory.next_check) if moment is not None]
        return max(0.0, min(moments) - monotonic()) * 1000 if moments else None

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._pid, number)
        except (ProcessLookupError, PermissionError):
            return  # already gone; its end is on the way

    def _reap(self, wake: int) -> None:
        os.read(wake, 4096)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._pid:
                self._ended = exit_code(status)
            for connection in self._connections:
                if connection.exec_pid == pid:
                    connection.exec_pid = 0
                    connection.answer({"exit": exit_code(status)})

    def _read(self, descriptor: int) -> bool:
        """Read from a stream of the container; tell whether there may be more."""
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return False
        except OSError:  # a terminal whose last user is gone
            data = b""
        stream = self._streams[descriptor]
        if not data:
            self._off(descriptor)
            del self._streams[descriptor]
            self._log.end(stream)
            return False
        self._log.write(stream, data)
        for connection in self._connections:
            if stream in connection.outputs:
                _offer(connection.outputs[stream], data)
        return True

    def _accept(self, listener: socket.socket) -> None:
        connected, _ = listener.accept()
        connection = Connection(connected)
        self._connections.add(connection)
        self._on(connected.fileno(), lambda: self._command(connection))

    def _command(self, connection: Connection) -> None:
        try:
            raw, descriptors = receive(connection.socket, 3)
        except OSError:
            raw, descriptors = b"", []
        if not raw:
            self._drop(connection)
            return
        request = json.loads(raw)
        if request["do"] == "stop":
            self._stop(float(request["grace"]))
        elif request["do"] == "reopen":
            self._log.reopen()
            connection.answer({})
        elif request["do"] == "exec":
            self._exec(connection, request, descriptors)
        elif request["do"] == "attach":
            self._attach(connection, request, descriptors)
        else:
            connection.answer({"error": f"unknown command {request['do']!r}"})

    def _stop(self, grace: float) -> None:
        if not self._terminated and grace > 0:
            self._terminated = True
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)
        deadline = monotonic() + grace
        self._deadline = deadline if self._deadline is None else min(deadline, self._deadline)

    def _exec(self, connection: Connection, request: dict[str, Any], streams: list[int]) -> None:
        program = self._program._replace(argv=request["argv"])
        terminal: tuple[int, ...] = ()
        try:
            if request["tty"]:
                terminal = self._open_terminal()
                streams = [os.dup(terminal[1]) for _ in range(3)]
            connection.exec_pid = start(program, (streams[0], streams[1], streams[2]), tty=request["tty"])
            connection.answer({"pid": connection.exec_pid}, terminal[:1])
        except (StartFailed, OSError) as error:
            connection.answer({"error": str(error)})
        for descriptor in (*streams, *terminal):
            os.close(descriptor)

    def _attach(self, connection: Connection, request: dict[str, Any], outputs: list[int]) -> None:
        for stream, descriptor in zip((b"stdout", b"stderr"), outputs, strict=False):
            os.set_blocking(descriptor, False)
            connection.outputs[stream] = descriptor
        if not request["stdin"] or self._stdin < 0:
            connection.answer({"stdin": False})
            return
        connection.answer({"stdin": True}, (self._stdin,))
        if self._spec.stdin_once and not self._spec.tty:
            # The client has the only end now: when it says that its input ends, or is gone, the container sees that.
            os.close(self._stdin)
            self._stdin = -1

    def _drop(self, connection: Connection) -> None:
        self._off(connection.socket.fileno())
        self._connections.discard(connection)
        connection.socket.close()
        for descriptor in connection.outputs.values():
            os.close(descriptor)
        if connection.exec_pid:
            try:
                os.killpg(connection.exec_pid, signal.SIGKILL)
            except ProcessLookupError:
                connection.exec_pid = 0

    def _finish(self, code: int) -> None:
        """End the processes that the container left, read the rest of its output, and record the end."""
        self._signal(signal.SIGKILL)
        descendants.end_all()
        for descriptor in list(self._streams):
            while self._read(descriptor):
                continue
        for stream in list(self._streams.values()):
            self._log.end(stream)
        out_of_memory = self._memory.was_exceeded or self._cgroups.killed_for_memory()
        self._cgroups.remove()
        self._write_status(exit_code=code, finished_at=time(), reason="OOMKilled" if out_of_memory and code else "")
        for connection in self._connections:
            connection.answer({"exit": 137 if connection.exec_pid else code})

    def fail(self, reason: str) -> None:
        """Record that the container never started."""
        self._cgroups.remove()
        now = time()
        self._write_status(started_at=now, finished_at=now, exit_code=START_ERROR, reason="StartError", message=reason)

    def _write_status(self, **changes: Any) -> None:
        """Write the status with these changes, then report the change: its reader finds the file up to date."""
        self._status = self._status._replace(**changes)
        write_file(self._folder, STATUS, self._status)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as reporter:
            reporter.setblocking(False)
            try:
                reporter.sendto(self._spec.id.encode(), f"/proc/self/fd/{self._events}/events.sock")
            except OSError:
                return  # no kubelet is listening: the next one reads the file


def _offer(descriptor: int, data: bytes) -> None:
    """Write output to an attached client; one that does not keep up misses some, the log has all."""
    try:
        os.write(descriptor, data)
    except OSError:
        return


def enter_view(hostname: str) -> str:
    """Move this process into namespaces of its own; return ``private``, or ``shared`` where that is not allowed."""
    try:
        mounts.enter("mount" if os.geteuid() == 0 else "user", hostname)
    except OSError:
        return "shared"
    return "private"


def run(path: str, reply: int) -> None:
    """Watch over the container whose folder is `path`; answer on `reply` once it runs or cannot."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(path)
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    lock = os.open("lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with os.fdopen(reply, "w") as answer:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            answer.write(json.dumps({"error": "the container runs already"}) + "\n")
            return
        spec = read_spec(".")
        if spec is None:
            answer.write(json.dumps({"error": "the container has no spec"}) + "\n")
            return
        shim = ContainerShim(folder, spec)
        try:
            answer.write(json.dumps({"pid": shim.begin()}) + "\n")
        except (StartFailed, OSError) as error:
            shim.fail(str(error))
            answer.write(json.dumps({"error": str(error)}) + "\n")
            return
    shim.watch()
