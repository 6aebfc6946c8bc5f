"""What ``/debug/pprof`` shows of a Python process: the stacks of threads and tasks, and where its time goes.

Go's binary profiles have no meaning here; the same paths give text that people and flame-graph tools read.
"""

from __future__ import annotations

import gc
import sys
import threading
import traceback
from collections import Counter
from types import FrameType

from hyperkube.machinery.clock import Clock

INTERVAL = 0.01
"""Seconds between two samples."""

LONGEST = 60.0
"""Seconds that one profile may take."""


def thread_stacks() -> str:
    """Return every thread's name and stack."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    parts = []
    for ident, frame in sys._current_frames().items():  # noqa: SLF001  CPython's documented way
        parts.append(f"thread {names.get(ident, '?')} [{ident}]:\n{''.join(traceback.format_stack(frame))}")
    return "\n".join(parts)


def pending_tasks() -> str:
    """Return a line for each asyncio task that is not done, of any loop: its name and where it waits, outermost first.

    They are looked up among all objects: loops know only their own tasks, and nobody knows all loops.
    """
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return ""
    tasks = [each for each in gc.get_objects() if isinstance(each, asyncio.Task) and not each.done()]
    lines = []
    for task in tasks:
        places = (f"{frame.f_code.co_name} ({frame.f_code.co_filename}:{frame.f_lineno})" for frame in task.get_stack())
        lines.append(f"task {task.get_name()}: {'; '.join(places)}\n")
    return "".join(sorted(lines))


def sample(seconds: float, clock: Clock) -> str:
    """Sample all threads for some seconds; returns collapsed stacks, one line each with its count.

    The format is that of flame-graph tools: frames from the outermost, joined by semicolons, a blank, the count.
    """
    counts: Counter[str] = Counter()
    me = threading.get_ident()
    end = clock.monotonic() + min(seconds, LONGEST)
    while clock.monotonic() < end:
        for ident, frame in sys._current_frames().items():  # noqa: SLF001  CPython's documented way
            if ident != me:
                counts[_collapse(frame)] += 1
        clock.sleep(INTERVAL)
    return "".join(f"{stack} {count}\n" for stack, count in counts.most_common())


def _collapse(frame: FrameType | None) -> str:
    names: list[str] = []
    while frame is not None:
        module = frame.f_globals.get("__name__", "?")
        code = frame.f_code
        names.append(f"{module}.{getattr(code, 'co_qualname', code.co_name)}")
        frame = frame.f_back
    return ";".join(reversed(names))
