"""Run the stages of ``./dev test``: what computes beside what waits, so that two cores are never idle.

A stage is a task of ``./dev``. The stages of a lane run one after another; some lanes run side by side, first those
that wait longest, and the next begins when one of them has ended. What only computes has places of its own and gives
way to what waits for answers: it fills what that leaves of the cores, all the time. While the servers that tests talk to are installed, what needs none is checked. What
a stage prints is shown when it has ended, whole. Tests that fail are run once more when nothing else runs: those that
pass then are named, but fail nothing, since other stages had made them wait.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIRST: tuple[tuple[str, ...], ...] = (
    ("servers",),  # waits for the network and the disk
    ("house", "lint", "layers"),
    ("types", "solo --all --load-only"),
)
LANES: tuple[tuple[str, ...], ...] = (
    ("integration",),
    ("containers",),  # waits mostly
    ("golden-node", "golden-proxy"),  # wait mostly
    ("faults",),  # waits for half of its time, and for what was killed
    ("conformance",),
    ("solo",),
    ("security",),
    ("unit-hosts",),
    ("unit-plugins",),
    ("unit-core",),
)
AT_ONCE = 4
"""How many lanes run side by side that do more than compute: the first four wait for half of their time."""
COMPUTING = frozenset({"unit-hosts", "unit-plugins", "unit-core"})
"""The tasks that only compute: a load makes none of them fail, so they take what the others leave."""
CORES = os.cpu_count() or 1
"""How many lanes of those run side by side: together they leave no core idle."""
NICENESS = 5
"""A third of a busy core remains theirs."""
TESTS = frozenset(
    {"unit-core", "unit-hosts", "unit-plugins", "house", "security", "integration", "containers", "conformance"}
    | {"golden-node", "golden-proxy", "faults"}
)
"""The tasks that take arguments for pytest."""
MEASURED = frozenset({"solo"})
"""The tasks without arguments that start servers, and so wait for what other stages take from them."""
AGAIN = ("-n0", "--last-failed", "--last-failed-no-failures=none")


@dataclass(frozen=True, slots=True)
class Result:
    """How a stage ended.

    Attributes:
        began: seconds after the first stage.
        work: seconds of processor time, those of all its processes.
        flaky: the tests that failed beside other stages and passed alone.
    """

    stage: str
    code: int
    began: float
    seconds: float
    work: float
    flaky: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = "ok" if self.code == 0 else "FAILED"
        when = f"{self.began:6.0f} s + {self.seconds:5.0f} s"
        return f"{self.stage:24} {said:6} {when}, {self.work:6.0f} s of processor time"


class Runner:
    """Runs stages of the ``dev`` in a folder, and prints what they print."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._began = time.monotonic()
        self._printing = threading.Lock()

    def run(self, stage: str, *more: str) -> Result:
        """Run a stage to its end."""
        began = time.monotonic()
        with tempfile.TemporaryFile() as output:
            task, *words = stage.split()
            gives_way = ["nice", "-n", str(NICENESS)] if task in COMPUTING else []
            process = subprocess.Popen(
                [*gives_way, "./dev", task, *words, *more],
                cwd=self._root, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read().decode(errors="replace")
        ended = time.monotonic()
        work = usage.ru_utime + usage.ru_stime
        result = Result(stage, process.returncode, began - self._began, ended - began, work)
        with self._printing:
            print(text, f"-- {result}\n", sep="", flush=True)
        return result

    def run_lanes(self, lanes: Iterable[tuple[str, ...]]) -> list[Result]:
        """Run lanes, `AT_ONCE` side by side, and `CORES` of those that only compute; return the results by lane."""
        with ThreadPoolExecutor(AT_ONCE) as waiting, ThreadPoolExecutor(CORES) as computing:
            ends = [
                (computing if COMPUTING.issuperset(lane) else waiting).submit(
                    lambda stages: [self.run(stage) for stage in stages], lane
                )
                for lane in lanes
            ]
            return [result for end in ends for result in end.result()]

    def alone(self, first: Result) -> Result:
        """Run what failed of a stage once more; return the first result, or that it passes now."""
        task = first.stage.split()[0]
        failed = self._failed(task)
        if first.code == 0 or task not in TESTS | MEASURED or (task in TESTS and not failed):
            return first
        again = self.run(first.stage, *(AGAIN if task in TESTS else ()))
        flaky = failed - self._failed(task) if task in TESTS else {first.stage} if again.code == 0 else set()
        return Result(
            first.stage,
            again.code,
            first.began,
            first.seconds + again.seconds,
            first.work + again.work,
            (*sorted(flaky),),
        )

    def _failed(self, task: str) -> set[str]:
        path = self._root / ".pytest_cache" / task / "v/cache/lastfailed"
        return set(json.loads(path.read_text())) if path.exists() else set()


def idle_seconds() -> float:
    """Return how long all cores of the machine together have had nothing to do since it started."""
    times = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return (int(times[4]) + int(times[5])) / os.sysconf("SC_CLK_TCK")


def run_all(root: Path, phases: Iterable[Iterable[tuple[str, ...]]]) -> int:
    """Run the lanes of one phase after another, then what failed, alone; print a table and return the exit code."""
    began, idle = time.monotonic(), idle_seconds()
    runner = Runner(root)
    results = [result for lanes in phases for result in runner.run_lanes(lanes)]
    results = [runner.alone(result) for result in results]
    print(*results, sep="\n")
    idle = idle_seconds() - idle
    work = sum(result.work for result in results)
    print(f"{time.monotonic() - began:.0f} s, {work:.0f} s of processor time; cores were idle for {idle:.0f} s")
    for result in results:
        for name in result.flaky:
            print(f"flaky (failed beside other tests, passed alone): {name}")
    failed = [result.stage for result in results if result.code]
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run_all(ROOT, (FIRST, LANES)))
