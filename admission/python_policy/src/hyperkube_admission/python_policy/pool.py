"""The processes of policies: so many at work, one more kept warm, all replaced when a policy's file changes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from pathlib import Path

from hyperkube_admission.python_policy.process import Job, NotStarted, NoVerdict, Process, Reloaded

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object

_LOOK_SECONDS = 1.0
"""How often the policies' files are looked at."""
_SPARE = 1
_START_SECONDS = 60.0
_LATER_SECONDS = 5.0
"""How long after a failed start of a process the next is tried."""

Times = dict[str, int]


class Generation:
    """One loading of the policies: what they declare, by index."""

    def __init__(self, number: int, policies: Sequence[Object], times: Times) -> None:
        self.number = number
        self.policies = policies
        self.times = times


class Pool:
    """Hands out processes; a thread of its own starts, replaces and buries them.

    Args:
        job: what they load.
        workers: how many may be at work at once.
        clock: the cluster's time.
        logger: where reloads and failures are told.
    """

    def __init__(self, job: Job, workers: int, clock: Clock, logger: logging.Logger) -> None:
        self._job = job
        self._wanted = workers + _SPARE
        self._clock = clock
        self._logger = logger
        self._condition = threading.Condition()
        self._idle: list[Process] = []
        self._alive = 0
        self._dead: list[Process] = []
        self._wake = threading.Event()
        self._closing = False
        self._generation: Generation | None = None
        self._loaded = threading.Event()
        self._refused: NotStarted | None = None
        self._thread: threading.Thread | None = None

    @property
    def generation(self) -> Generation:
        """The policies that are in force.

        Raises:
            RuntimeError: the pool was not started.
        """
        if self._generation is None:
            raise RuntimeError("the pool was not started")
        return self._generation

    def start(self) -> None:
        """Start the first process, and the others behind it.

        Raises:
            NotStarted: the policies cannot be loaded.
        """
        self._thread = threading.Thread(target=self._keep, name="python-policies", daemon=True)
        self._thread.start()
        self._loaded.wait(_START_SECONDS)
        if self._refused is not None:
            raise self._refused
        if self._generation is None:
            raise NotStarted("the policies were not loaded in time")

    def full(self) -> bool:
        """Tell whether all processes are there, the spare one too."""
        with self._condition:
            return self._alive >= self._wanted

    def borrow(self, generation: Generation, deadline: float) -> Process:
        """Return an idle process that has loaded that generation; give it back, or discard it.

        Raises:
            NoVerdict: none is free before `deadline`.
            Reloaded: another generation is in force.
        """
        with self._condition:
            while True:
                if generation is not self._generation:
                    raise Reloaded
                if self._idle:
                    return self._idle.pop()
                left = deadline - self._clock.monotonic()
                if self._closing or left <= 0 or not self._condition.wait(left):
                    raise NoVerdict("no process of policies was free in time")

    def give_back(self, process: Process) -> None:
        """Take a process back that is ready for the next review."""
        with self._condition:
            if self._closing or process.generation != self.generation.number:
                self._bury(process)
            else:
                self._idle.append(process)
                self._condition.notify()

    def discard(self, process: Process) -> None:
        """Kill a process that hangs, or is of no use any more; another takes its place."""
        process.kill()
        with self._condition:
            self._bury(process)

    def close(self) -> None:
        """End all processes; those at work end when they are given back."""
        with self._condition:
            self._closing = True
            self._dead += self._idle
            self._idle.clear()
            self._condition.notify_all()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
        self._end_dead()

    def _bury(self, process: Process) -> None:
        self._alive -= process.generation == (self._generation.number if self._generation else 0)
        if self._closing:
            process.end()
            return
        self._dead.append(process)
        self._wake.set()

    def _keep(self) -> None:
        failed_at: float | None = None
        while not self._closing:
            self._end_dead()
            try:
                self._renew()
                failed_at = None
            except NotStarted as error:
                if self._generation is None:
                    self._refused = error
                    self._loaded.set()
                    return
                self._logger.error("a process of policies does not start: %s", error)  # noqa: TRY400  one line says all
                failed_at = self._clock.monotonic()
            self._clock.wait(self._wake, _LOOK_SECONDS if failed_at is None else _LATER_SECONDS)
            self._wake.clear()

    def _renew(self) -> None:
        """Start what is missing, one at a time; take up changed files first."""
        current = self._generation
        if current is None:
            self._take_up(Process(self._job, self._clock, 1))
        elif (times := _times(current.times)) != current.times:
            self._reload(current, times)
        while not self._closing and self._alive < self._wanted:
            process = Process(self._job, self._clock, self.generation.number)
            if _times(self.generation.times) != self.generation.times:
                process.end()  # it may have loaded something newer than its siblings
                return
            with self._condition:
                self._alive += 1
            self.give_back(process)

    def _reload(self, current: Generation, times: Times) -> None:
        try:
            process = Process(self._job, self._clock, current.number + 1)
        except NotStarted as error:
            self._logger.error("the policies stay as they were: %s", error)  # noqa: TRY400  one line says all
            current.times = times
            return
        self._take_up(process, times)
        self._logger.info("policies reloaded: %s", ", ".join(one["name"] for one in process.policies))

    def _take_up(self, process: Process, times: Times | None = None) -> None:
        """Put a new generation in force, whose first process this is; `times` are those from before it was started."""
        found = Generation(process.generation, process.policies, {**_times(process.files), **(times or {})})
        with self._condition:
            self._dead += self._idle
            self._idle.clear()
            self._generation, self._alive = found, 1
            self._condition.notify_all()
        self._loaded.set()
        self.give_back(process)

    def _end_dead(self) -> None:
        with self._condition:
            dead, self._dead = self._dead, []
        for process in dead:
            process.end()


def _times(files: Sequence[str] | Times) -> Times:
    found = {}
    for file in files:
        try:
            status = Path(file).stat()
            found[file] = status.st_mtime_ns ^ status.st_size
        except OSError:
            found[file] = 0
    return found
