"""How long threads were ready to run and got no processor: what a test leaves out of the time that something took."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def processor_waits(process: int | str = "self", threads: Iterable[int] | None = None) -> dict[int, float]:
    """Return the seconds for which threads have waited for a processor since they began, by their numbers.

    Args:
        process: its number.
        threads: of the process; all unless said. Those that have ended are left out.

    Source: the second number of Linux' ``/proc/PID/task/TID/schedstat``, in nanoseconds.
    """
    folder = Path(f"/proc/{process}/task")
    waits: dict[int, float] = {}
    try:
        for thread in [int(entry.name) for entry in folder.iterdir()] if threads is None else threads:
            try:
                waits[thread] = int((folder / str(thread) / "schedstat").read_text().split()[1]) / 1e9
            except (FileNotFoundError, ProcessLookupError):
                continue
    except (FileNotFoundError, ProcessLookupError):
        return waits  # the process has ended
    return waits
