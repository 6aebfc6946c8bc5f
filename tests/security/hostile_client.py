"""A client that sends what it likes, byte by byte, beside a second one that only wants to know whether the server is ready."""

from __future__ import annotations

import http.client
import json
import socket
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from attacked_world import HUNG, Call, World
from hyperkube_testing.peers.processor_waits import processor_waits

LONGEST_WAIT = 0.5
"""Seconds of this process' processor time that ``/readyz`` may take beside a hostile connection; see `cheap`."""
WORK_SECONDS = 0.013
"""Processor time of `_work` on the machine for which all bounds are meant, with a `servers_under_load.PACE` of 0.25 s."""


def slowness() -> float:
    """Return how many times the processor time for which bounds are meant a piece of work takes now; at least 1."""
    taken = []
    for _ in range(5):
        began = time.thread_time()
        _work()
        taken.append(time.thread_time() - began)
    return max(1.0, median(taken) / WORK_SECONDS)


def _work() -> str:
    """Do some of what requests are made of, the same each time."""
    return json.dumps({f"k{number}": {"key": str(number), "values": [number]} for number in range(10_000)})


def cheap(seconds: float, bound: float) -> bool:
    """Tell whether an answer cost less than a bound, as many times that as the machine is slower than meant."""
    return seconds < bound or (seconds < HUNG and seconds < bound * slowness())


class Stopwatch:
    """Measures what an answer costs: the processor time of this process, in which clients and server are.

    Seconds of the clock would be those of everything else that runs on the machine, too. So would those in which the
    `threads` that ask and answer (their numbers with the system) are ready and get no processor, and others work on.
    """

    def __init__(self, *threads: int) -> None:
        self.threads = threads
        self.began, self.worked, self.waited = time.perf_counter(), time.process_time(), self._waited()

    def seconds(self) -> float:
        """Return the processor time since the start; all the seconds of an answer that hung."""
        passed = time.perf_counter() - self.began
        if passed > HUNG:
            return passed
        return time.process_time() - self.worked - (self._waited() - self.waited)

    def _waited(self) -> float:
        return sum(processor_waits(threads=self.threads).values())


class SleepWatch:
    """Measures for how long an answer kept waiting while none of this process' threads was kept from a processor.

    Such seconds were spent on something of the server's own: a lock, a timer, a thread that sleeps.
    """

    def __init__(self) -> None:
        self.began, self.waited = time.perf_counter(), sum(processor_waits().values())

    def seconds(self) -> float:
        """Return the seconds of the clock since the start, less those that the machine took."""
        # Of a thread that has ended meanwhile nothing is left out, which lets less pass.
        return time.perf_counter() - self.began - (sum(processor_waits().values()) - self.waited)


HEAD = b"Host: x\r\nAccept: application/json\r\n"
ADMIN = HEAD + b"Authorization: Bearer token-admin\r\n"


class Hostile:
    """Attacks one world; `nobody` has no credentials at all, `admin` those of an administrator."""

    def __init__(self, world: World) -> None:
        self.world = world

    def connect(self):
        """Return a TLS connection to the server."""
        raw = socket.create_connection(("127.0.0.1", self.world.edge.port), timeout=20)
        return self.world.contexts[""].wrap_socket(raw, server_hostname="127.0.0.1")

    def send(self, data):
        """Send bytes; return the status and the body of the first answer, (0, b"") for none."""
        with self.connect() as connection:
            with _hung_up():
                connection.sendall(data)
            response = http.client.HTTPResponse(connection)
            try:
                response.begin()
                return response.status, response.read()
            except (http.client.HTTPException, OSError):
                return 0, b""

    def answers(self, *pieces, silence=1.0):
        """Send bytes piece by piece; return the statuses of all answers until the server closes or is silent."""
        with self.connect() as connection:
            connection.settimeout(silence)
            received = b""
            with _hung_up():
                for piece in pieces:
                    connection.sendall(piece)
                while piece := connection.recv(65536):
                    received += piece
        return [int(part[:3]) for part in received.split(b"HTTP/1.1 ")[1:]]

    def ask(self, method, path, body=None, content_type="application/json", **headers):
        """Ask as an administrator; return the status, and what the answer's JSON says."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        answer = self.world.ask(Call("admin", method, path, data, {"Content-Type": content_type, **headers}))
        return answer.status, json.loads(answer.body)

    @contextmanager
    def patiently(self, *, asleep=HUNG):
        """Let the second client ask again and again meanwhile; what it asks never takes long.

        Nor may it wait more than `asleep` seconds while no thread of this process wants a processor.
        """
        waits, slept, stop = [], [], threading.Event()

        def watch():
            context, edge = self.world.contexts[""], self.world.edge
            connection = http.client.HTTPSConnection("127.0.0.1", edge.port, context=context, timeout=60)
            both = threading.get_native_id(), edge.loop._thread.native_id
            while not stop.is_set():
                stopwatch, sleeping = Stopwatch(*both), SleepWatch() if asleep < HUNG else Stopwatch()
                connection.request("GET", "/readyz")
                assert connection.getresponse().read() == b"ok"
                waits.append(stopwatch.seconds())
                slept.append(sleeping.seconds())
                stop.wait(0.01)
            connection.close()

        thread = threading.Thread(target=watch)
        thread.start()
        while not waits:
            time.sleep(0.001)
        waits.clear()
        slept.clear()
        try:
            yield
        finally:
            stop.set()
            thread.join()
        assert cheap(max(waits, default=0), LONGEST_WAIT)
        assert max(slept, default=0) < asleep


@contextmanager
def _hung_up():
    """Go on where the server closes before all is sent, as it may."""
    try:
        yield
    except OSError:
        return


def request(method="GET", path="/readyz", *lines, credentials=HEAD, body=b""):
    """Return a request as bytes."""
    head = f"{method} {path} HTTP/1.1\r\n".encode() + credentials + b"".join(line + b"\r\n" for line in lines)
    return head + (b"Content-Length: %d\r\n" % len(body) if body else b"") + b"\r\n" + body


def quickly(ask, seconds=3.0):
    """Return what a request returns, which may cost some processor time, but not what a quadratic one took."""
    stopwatch = Stopwatch()
    answer = ask()
    assert cheap(stopwatch.seconds(), seconds)
    return answer
