"""Tells who waits for a long run how far it is."""

from __future__ import annotations

import time

EVERY_SECONDS = 30.0


class Progress:
    """Prints a line every half minute; a short run prints none."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self.began = self.told = time.monotonic()

    def step(self, faults: int) -> None:
        """Count one case; `faults` is the number of kinds of wrong answers so far."""
        self.done += 1
        now = time.monotonic()
        if now - self.told >= EVERY_SECONDS:
            self.told = now
            worked = time.process_time()
            print(
                f"{self.done}/{self.total} {self.what}, {now - self.began:.0f} s, {worked:.0f} s of processor time,"
                f" {faults} faults",
                flush=True,
            )
