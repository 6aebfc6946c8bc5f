"""One process of policies, seen from the API server: started, asked, killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import orjson
from hyperkube_admission.python_policy.channel import Channel, Closed
from hyperkube_admission.python_policy.verdict import is_question, is_verdict

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object

_MODULE = "hyperkube_admission.python_policy.worker"
_LOAD_SECONDS = 30.0
_KEPT = ("PATH", "LANG", "LC_ALL", "TZ")
"""What a process of policies sees of the environment; credentials of the server are none of its business."""

Answer = Callable[[list[str]], Object]


class NoVerdict(HyperkubeError):
    """A policy gave no verdict; ``str()`` says why."""


class Reloaded(HyperkubeError):
    """The policies were replaced while a request was about to ask them: ask the new ones."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One policy's turn in a review: its index, the seconds it may take, whether a failure of it ends the review."""

    policy: int
    budget: float
    closed: bool


class NotStarted(HyperkubeError):
    """A process could not load the policies; ``str()`` says why in one line."""


@dataclass(frozen=True, slots=True)
class Job:
    """What every process of one generation loads: the entries, its memory in bytes."""

    entries: Sequence[Mapping[str, Any]]
    memory: int


class Process:
    """A running process; asked by one thread at a time.

    Raises:
        NotStarted: the policies cannot be loaded.
    """

    def __init__(self, job: Job, clock: Clock, generation: int) -> None:
        self.generation = generation
        self._clock = clock
        own, other = socket.socketpair()
        self._channel = Channel(own, clock)
        self._serial = 0
        with other:
            self._process = self._spawn(other)
        told = self._load(job)
        self.policies: list[Object] = told["policies"]
        self.files: list[str] = told["files"]

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def _spawn(self, end: socket.socket) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                [sys.executable, "-m", _MODULE, str(end.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(end.fileno(),),
                env=_environment(),
                start_new_session=True,  # a Ctrl-C is for the server, which closes its end
            )
        except OSError as error:
            self._channel.close()
            raise NotStarted(f"no process for policies can be made: {error}") from error

    def _load(self, job: Job) -> Object:
        try:
            self._channel.wait_at_most(_LOAD_SECONDS)
            self._channel.send({"entries": [*job.entries], "memory": job.memory})
            told = self._channel.table()
        except TimeoutError:
            self.end()
            raise NotStarted(f"the policies were not loaded within {_LOAD_SECONDS:g} s") from None
        except Closed:
            self.end()
            code = self._process.returncode
            raise NotStarted(f"the process of policies ended with {code} while it loaded them") from None
        if "failed" in told:
            self.end()
            raise NotStarted(told["failed"])
        return told

    def ask(self, turns: Sequence[Turn], review: Object, deadline: float, answer: Answer) -> Iterator[Object]:
        """Yield the answer of each policy, up to the first that refuses, or fails and is closed.

        Args:
            turns: the policies, in order.
            review: what they are asked.
            deadline: when, by the clock, the first one's time is over; each later one's begins with its turn.
            answer: answers look-ups.

        Raises:
            NoVerdict: the time is over, or the process died; it must not be used again.
        """
        longest = max(turn.budget for turn in turns)
        run, closed = [turn.policy for turn in turns], [turn.closed for turn in turns]
        self._serial += 1
        asked = {"run": run, "closed": closed, "review": review, "budget": longest, "serial": self._serial}
        body = orjson.dumps(asked)
        turn = turns[0]
        try:
            self._channel.wait_at_most(deadline - self._clock.monotonic())
            self._channel.send(body)
            for turn in turns:
                if turn is not turns[0]:
                    deadline = self._clock.monotonic() + turn.budget
                told = self._verdict(turn.policy, deadline, answer)
                if "memory" in told:
                    raise NoVerdict(told["failed"])
                yield told
                if "deny" in told or ("failed" in told and turn.closed):
                    return
        except TimeoutError:
            raise NoVerdict(f"it was cut after {round(turn.budget * 1000)} ms") from None
        except Closed:
            raise NoVerdict("its process ended") from None

    def _verdict(self, policy: int, deadline: float, answer: Answer) -> Object:
        while True:
            left = deadline - self._clock.monotonic()
            if left <= 0:
                raise TimeoutError
            self._channel.wait_at_most(left)
            told = self._channel.table()
            if is_verdict(told, policy, self._serial):
                return told
            if not is_question(told.get("look")):
                raise NoVerdict("its process said what is no verdict")
            self._channel.send(answer(told["look"]))

    def kill(self) -> None:
        """End it at once, and what it has started; the caller must `end` it, too."""
        with suppress(ProcessLookupError, PermissionError):  # its session is its own: the group is none of ours
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End it and wait for that; idempotent."""
        if self._process.returncode is None:
            self.kill()
        self._channel.close()
        self._process.wait()


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    path = os.pathsep.join(folder for folder in sys.path if folder)
    return {**kept, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
