"""Run the stages of ``./dev test``: what computes beside what waits, so that two cores are never idle.

A stage is a task of ``./dev``. The stages of a lane run one after another; some lanes run side by side, the longest
first, and the next begins when one of them has ended. What only computes gives way to what waits for answers, and so
fills what that leaves of the cores. While the servers that tests talk to are installed, what needs none is checked. What
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
    ("faults",),  # waits for half of its time, and for what was killed
    ("unit-plugins",),
    ("unit-core",),
    ("golden-node", "golden-proxy"),  # wait mostly
    ("security",),
    ("conformance",),
    ("solo",),
)
AT_ONCE = 5
"""How many lanes run side by side: three of the first wait for half of their time."""
COMPUTING = frozenset({"unit-plugins", "unit-core"})
"""The tasks that only compute: a load makes none of them fail, so they take what the others leave."""
NICENESS = 5
"""A third of a busy core remains theirs."""
TESTS = frozenset(
    {"unit-core", "unit-plugins", "house", "security", "integration", "containers", "conformance"}
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
        work: seconds of processor time, those of all its processes.
        flaky: the tests that failed beside other stages and passed alone.
    """

    stage: str
    code: int
    seconds: float
    work: float
    flaky: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = "ok" if self.code == 0 else "FAILED"
        return f"{self.stage:24} {said:6} {self.seconds:6.0f} s, {self.work:6.0f} s of processor time"


class Runner:
    """Runs stages of the ``dev`` in a folder, and prints what they print."""

    def __init__(self, root: Path) -> None:
        self._root = root
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
        seconds = time.monotonic() - began
        result = Result(stage, process.returncode, seconds, usage.ru_utime + usage.ru_stime)
        with self._printing:
            print(text, f"-- {result}\n", sep="", flush=True)
        return result

    def run_lanes(self, lanes: Iterable[tuple[str, ...]]) -> list[Result]:
        """Run lanes, `AT_ONCE` side by side; return the results, lane by lane."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            results = pool.map(lambda lane: [self.run(stage) for stage in lane], lanes)
            return [result for lane in results for result in lane]

    def alone(self, first: Result) -> Result:
        """Run what failed of a stage once more; return the first result, or that it passes now."""
        task = first.stage.split()[0]
        failed = self._failed(task)
        if first.code == 0 or task not in TESTS | MEASURED or (task in TESTS and not failed):
            return first
        again = self.run(first.stage, *(AGAIN if task in TESTS else ()))
        flaky = failed - self._failed(task) if task in TESTS else {first.stage} if again.code == 0 else set()
        return Result(
            first.stage, again.code, first.seconds + again.seconds, first.work + again.work, (*sorted(flaky),)
        )

    def _failed(self, task: str) -> set[str]:
        path = self._root / ".pytest_cache" / task / "v/cache/lastfailed"
        return set(json.loads(path.read_text())) if path.exists() else set()


def run_all(root: Path, phases: Iterable[Iterable[tuple[str, ...]]]) -> int:
    """Run the lanes of one phase after another, then what failed, alone; print a table and return the exit code."""
    began = time.monotonic()
    runner = Runner(root)
    results = [result for lanes in phases for result in runner.run_lanes(lanes)]
    results = [runner.alone(result) for result in results]
    print(*results, sep="\n")
    print(f"{time.monotonic() - began:.0f} s, {sum(result.work for result in results):.0f} s of processor time")
    for result in results:
        for name in result.flaky:
            print(f"flaky (failed beside other tests, passed alone): {name}")
    failed = [result.stage for result in results if result.code]
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run_all(ROOT, (FIRST, LANES)))
